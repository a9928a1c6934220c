/**
 * A problem of a rule, as a sentence with its place. `unreadable`: the intent cannot be determined, and a master must not start with
 * it. `unusable`: an invalid expression, which allows nothing.
 */
export interface RuleProblem {
  readonly kind: 'unreadable' | 'unusable'
  readonly sentence: string
}

export interface RuleReading {
  readonly nodegroups: Readonly<Record<string, unknown>>
  problem(kind: RuleProblem['kind'], sentence: string): void
}

export function describeValue(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'empty'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a map'
  return typeof value === 'string' ? `the text '${value.slice(0, 60)}'` : String(value)
}
