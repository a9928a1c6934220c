/** Compares two versions: -1, 0 or 1, and null if it cannot. */
export type CompareVersions = (a: string, b: string) => -1 | 0 | 1 | null

/** Remove the epoch of a version. */
export const withoutEpoch = (version: string): string => version.slice(version.indexOf(':') + 1)

/** Whether a version given by a user begins with `<` or `>`. */
export const isComparison = (version: string | null): boolean => /^[<>]/.test(version ?? '')

/** Return the first of the available versions that satisfies a version with an operator, such as `>=1.2`. */
export function matchingVersion(
  wanted: string,
  available: readonly string[],
  compare: CompareVersions,
  ignoreEpoch: boolean,
): string | undefined {
  const [, operator = '==', version = wanted] = /^(!=|>=|<=|>>|<<|>|<|=)?\s?([^<>=]+)$/.exec(wanted) ?? []
  const clean = (text: string) => (ignoreEpoch ? withoutEpoch(text) : text)
  return available.find((candidate) => satisfies(compare(clean(candidate), clean(version)), operator))
}

function satisfies(order: number | null, operator: string): boolean {
  if (order === null) return false
  if (operator === '!=') return order !== 0
  if (operator.startsWith('>')) return order > 0 || (operator === '>=' && order === 0)
  if (operator.startsWith('<')) return order < 0 || (operator === '<=' && order === 0)
  return order === 0
}
