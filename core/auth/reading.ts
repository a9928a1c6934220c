/**
 * What is wrong with a rule, as a sentence that names the place. `unreadable`: nobody can say what it is meant to allow,
 * and a master must not start with it. `unusable`: an expression that makes no sense, which allows nothing.
 */
export interface Problem {
  readonly kind: 'unreadable' | 'unusable'
  readonly sentence: string
}

export interface Reading {
  readonly nodegroups: Readonly<Record<string, unknown>>
  problem(kind: Problem['kind'], sentence: string): void
}

export function kindOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'empty'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a map'
  return typeof value === 'string' ? `the text '${value.slice(0, 60)}'` : String(value)
}
