import { pythonRegExp } from '../dialect/python-regexp.ts'

/** A regular expression of the configuration, in Python's dialect, that matches whole texts. */
export interface Pattern {
  readonly text: string
  /** Whether the text matches; false also if matching takes too long. */
  matches(text: string): boolean
}

/** Conditions on arguments. Arguments without a pattern may be anything; those with a pattern must be present. */
export interface Condition {
  /** Patterns by position; undefined matches anything. */
  readonly args: readonly (Pattern | undefined)[]
  readonly kwargs: ReadonlyMap<string, Pattern | undefined>
}

export interface FunctionRule {
  /** Place in the configuration, and the text there. */
  readonly place: string
  readonly fun: Pattern
  /** Alternatives, one of which must hold. Undefined: any arguments are allowed. */
  readonly conditions?: readonly Condition[]
}

/** Patterns that stand for every function. */
const EVERYTHING = ['.*', '.+']

/** Return the rule that allows every function with any arguments, if there is one. */
export const findAllFunctionsRule = (functions: readonly FunctionRule[]): FunctionRule | undefined =>
  functions.find(({ fun, conditions }) => !conditions && EVERYTHING.includes(fun.text))

/** Functions on minions: on all, or on those that a compound target selects. */
export interface MinionRule {
  readonly on: 'minions'
  readonly place: string
  readonly target?: string
  readonly functions: readonly FunctionRule[]
}

/** Functions on the master's host. */
export interface MasterRule {
  readonly on: 'master'
  readonly place: string
  /** The word after `@`: a kind of functions, `runner` or `wheel`, or a module of either kind. */
  readonly name: string
  /** For a kind, whole names; for a module, the part after the dot. Undefined: all functions. */
  readonly functions?: readonly FunctionRule[]
}

/** Returners that jobs may use. */
export interface ReturnerRule {
  readonly on: 'returners'
  readonly place: string
  /** Undefined: all returners. */
  readonly names?: readonly ReturnerName[]
}

export interface ReturnerName {
  readonly place: string
  readonly name: Pattern
}

export type Rule = MinionRule | MasterRule | ReturnerRule

/** @throws SaltError TARGET_INVALID with the reason */
export function readPattern(text: string): Pattern {
  const expression = pythonRegExp(text, { whole: true })
  return {
    text,
    matches(candidate) {
      try {
        return expression.matches(candidate)
      } catch {
        return false
      }
    },
  }
}
