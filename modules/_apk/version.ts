/** Suffixes of a version, in order. No suffix is between the first and the last ones. */
const EARLIER = ['alpha', 'beta', 'pre', 'rc']
const LATER = ['cvs', 'svn', 'git', 'hg', 'p']

interface ApkVersion {
  readonly numbers: readonly string[]
  readonly letter: string
  readonly suffixes: readonly (readonly [rank: number, number: bigint])[]
  readonly release: bigint
}

/** Compare two versions as apk does: `1.2.3b_rc1-r4`. */
export function compareApkVersions(a: string, b: string): -1 | 0 | 1 {
  const [left, right] = [parse(a), parse(b)]
  return (
    compareNumbers(left.numbers, right.numbers) ||
    compare(left.letter, right.letter) ||
    compareSuffixes(left.suffixes, right.suffixes) ||
    compare(left.release, right.release)
  )
}

function parse(text: string): ApkVersion {
  const [, numbers = '', letter = '', suffixes = '', release = '0'] =
    /^(\d[\d.]*)([a-z]?)((?:_[a-z]+\d*)*)(?:~[0-9a-f]+)?(?:-r(\d+))?/.exec(text.trim()) ?? []
  return {
    numbers: numbers.split('.').filter(Boolean),
    letter,
    suffixes: [...suffixes.matchAll(/_([a-z]+)(\d*)/g)].map(([, name = '', number]) => [
      rank(name),
      BigInt(number || 0),
    ]),
    release: BigInt(release),
  }
}

const rank = (name: string): number =>
  EARLIER.includes(name) ? EARLIER.indexOf(name) - EARLIER.length : LATER.indexOf(name) + 1

const compare = <T extends string | bigint | number>(a: T, b: T): -1 | 0 | 1 => (a < b ? -1 : a > b ? 1 : 0)

// After the first, a number that begins with 0 is compared as a fraction would be.
function compareNumbers(a: readonly string[], b: readonly string[]): -1 | 0 | 1 {
  for (let at = 0; at < Math.min(a.length, b.length); at++) {
    const [one = '', two = ''] = [a[at], b[at]]
    const isFraction = at > 0 && (one.startsWith('0') || two.startsWith('0'))
    const order = isFraction ? compare(one, two) : compare(BigInt(one), BigInt(two))
    if (order !== 0) return order
  }
  return compare(a.length, b.length)
}

function compareSuffixes(a: ApkVersion['suffixes'], b: ApkVersion['suffixes']): -1 | 0 | 1 {
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const [one, two] = [a[at] ?? ([0, 0n] as const), b[at] ?? ([0, 0n] as const)]
    const order = compare(one[0], two[0]) || compare(one[1], two[1])
    if (order !== 0) return order
  }
  return 0
}
