/** Compare two versions `epoch:version-release` as rpm does. A release is compared only if both have one. */
export function compareRpmVersions(a: string, b: string): -1 | 0 | 1 {
  const [left, right] = [parse(a), parse(b)]
  const bothReleased = left.release !== '' && right.release !== ''
  const order =
    left.epoch - right.epoch ||
    compareParts(left.version, right.version) ||
    (bothReleased ? compareParts(left.release, right.release) : 0)
  return order < 0 ? -1 : order > 0 ? 1 : 0
}

function parse(text: string): { epoch: number; version: string; release: string } {
  const [, epoch = '0', version = '', release = ''] = /^(?:(\d+):)?([^-]*)(?:-(.*))?$/.exec(text.trim()) ?? []
  return { epoch: Number(epoch), version, release }
}

const segments = (text: string): string[] => text.match(/\d+|[A-Za-z]+|[~^]/g) ?? []

function compareParts(a: string, b: string): number {
  const [left, right] = [segments(a), segments(b)]
  for (let at = 0; at < Math.max(left.length, right.length); at++) {
    const order = compareSegments(left[at], right[at])
    if (order !== 0) return order
  }
  return 0
}

/** In this order: a tilde, the end, a caret, letters, numbers. */
const rank = (segment: string | undefined): number => {
  if (segment === undefined) return 1
  if (segment === '~') return 0
  if (segment === '^') return 2
  return /\d/.test(segment) ? 4 : 3
}

function compareSegments(a: string | undefined, b: string | undefined): number {
  const order = rank(a) - rank(b)
  if (order !== 0 || a === undefined || b === undefined) return order
  if (/\d/.test(a)) return Number(BigInt(a) - BigInt(b))
  return a < b ? -1 : a > b ? 1 : 0
}
