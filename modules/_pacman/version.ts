/**
 * Compare two versions `epoch:version-release` as pacman does. A release is compared only if both have one. Letters after a
 * number come before its end: 1.0rc < 1.0 < 1.0.1.
 */
export function comparePacmanVersions(a: string, b: string): -1 | 0 | 1 {
  const [left, right] = [parse(a), parse(b)]
  const bothReleased = left.release !== undefined && right.release !== undefined
  return (
    compareParts(left.epoch, right.epoch) ||
    compareParts(left.version, right.version) ||
    (bothReleased ? compareParts(left.release!, right.release!) : 0)
  )
}

function parse(text: string): { epoch: string; version: string; release: string | undefined } {
  const [, epoch = '0', version = '', release] = /^(?:(\d*):)?(.*?)(?:-([^-]*))?$/.exec(text.trim()) ?? []
  return { epoch: epoch || '0', version, release }
}

interface Segment {
  /** How many characters are before it that are neither letters nor digits. */
  readonly gap: number
  readonly text: string
}
const segments = (text: string): Segment[] =>
  [...text.matchAll(/([^0-9A-Za-z]*)(\d+|[A-Za-z]+|$)/g)]
    .map(([, gap = '', segment = '']) => ({ gap: gap.length, text: segment }))
    .filter(({ gap, text: segment }) => gap > 0 || segment !== '')

function compareParts(a: string, b: string): -1 | 0 | 1 {
  if (a === b) return 0
  const [left, right] = [segments(a), segments(b)]
  for (let at = 0; ; at++) {
    const [one, two] = [left[at], right[at]]
    if (!one?.text || !two?.text) return compareRests(one, two)
    if (one.gap !== two.gap) return one.gap < two.gap ? -1 : 1
    const order = compareSegments(one.text, two.text)
    if (order !== 0) return order
  }
}

const isNumber = (text: string): boolean => /^\d/.test(text)

function compareSegments(a: string, b: string): -1 | 0 | 1 {
  if (isNumber(a) !== isNumber(b)) return isNumber(a) ? 1 : -1
  const [left, right] = isNumber(a) ? [BigInt(a), BigInt(b)] : [a, b]
  return left < right ? -1 : left > right ? 1 : 0
}

// Compares what is left when one version has ended: the longer one is later, unless it goes on with letters.
function compareRests(one: Segment | undefined, two: Segment | undefined): -1 | 0 | 1 {
  const bothGoOn = one !== undefined && two !== undefined
  const goesOnWithLetters = (rest: Segment) => /^[A-Za-z]/.test(rest.text) && (bothGoOn || rest.gap === 0)
  if (one && (one.text || !two)) return goesOnWithLetters(one) ? -1 : 1
  if (two && (two.text || !one)) return goesOnWithLetters(two) ? 1 : -1
  return 0
}
