interface DebVersion {
  readonly epoch: number
  readonly upstream: string
  readonly revision: string
}

/** Compare two versions as dpkg does (deb-version(7)). Returns -1, 0 or 1. */
export function compareDebVersions(a: string, b: string): -1 | 0 | 1 {
  const [left, right] = [parse(a), parse(b)]
  const order =
    left.epoch - right.epoch ||
    compareParts(left.upstream, right.upstream) ||
    compareParts(left.revision, right.revision)
  return order < 0 ? -1 : order > 0 ? 1 : 0
}

function parse(text: string): DebVersion {
  const [, epoch = '0', rest = ''] = /^(?:(\d+):)?([\s\S]*)$/.exec(text.trim()) ?? []
  const dash = rest.lastIndexOf('-')
  return dash < 0
    ? { epoch: Number(epoch), upstream: rest, revision: '' }
    : { epoch: Number(epoch), upstream: rest.slice(0, dash), revision: rest.slice(dash + 1) }
}

// Both texts are cut into parts that are not digits, and numbers, in turns.
function compareParts(a: string, b: string): number {
  const [left, right] = [partsOf(a), partsOf(b)]
  for (let at = 0; at < Math.max(left.length, right.length); at += 2) {
    const order =
      compareTexts(left[at] ?? '', right[at] ?? '') || compareNumbers(left[at + 1] ?? '', right[at + 1] ?? '')
    if (order !== 0) return order
  }
  return 0
}

const partsOf = (text: string): string[] =>
  [...text.matchAll(/(\D*)(\d*)/g)].flatMap(([whole, other = '', digits = '']) =>
    whole === '' ? [] : [other, digits],
  )

function compareTexts(a: string, b: string): number {
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const order = weight(a[at]) - weight(b[at])
    if (order !== 0) return order
  }
  return 0
}

/** A tilde comes before the end, the end before letters, and letters before everything else. */
function weight(char: string | undefined): number {
  if (char === undefined) return 0
  if (char === '~') return -1
  return /[A-Za-z]/.test(char) ? char.charCodeAt(0) : char.charCodeAt(0) + 256
}

function compareNumbers(a: string, b: string): number {
  const [left, right] = [BigInt(a || 0), BigInt(b || 0)]
  return left < right ? -1 : left > right ? 1 : 0
}
