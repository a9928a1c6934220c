import { pythonRegExp } from '../base/python-regexp.ts'

/** A regular expression of the configuration, in Python's dialect, for a whole text. */
export interface Pattern {
  readonly text: string
  /** False also for what cannot be decided in time. */
  matches(text: string): boolean
}

/** What arguments have to be like: those that are not mentioned may be anything, and those that are must be there. */
export interface Condition {
  /** By place; undefined: anything. */
  readonly args: readonly (Pattern | undefined)[]
  readonly kwargs: ReadonlyMap<string, Pattern | undefined>
}

export interface FunctionRule {
  /** Where it stands in the configuration, and what stands there. */
  readonly place: string
  readonly fun: Pattern
  /** One of these holds. Undefined: any arguments will do. */
  readonly conditions?: readonly Condition[]
}

/** How rules write every function. */
const EVERYTHING = ['.*', '.+']

/** The one among them that means every function with any arguments. */
export const everythingIn = (functions: readonly FunctionRule[]): FunctionRule | undefined =>
  functions.find(({ fun, conditions }) => !conditions && EVERYTHING.includes(fun.text))

/** Functions of minions: of all of them, or of those that a compound target means. */
export interface MinionRule {
  readonly on: 'minions'
  readonly place: string
  readonly target?: string
  readonly functions: readonly FunctionRule[]
}

/** Functions of the master's host. */
export interface MasterRule {
  readonly on: 'master'
  readonly place: string
  /** What follows the `@`: a kind of functions, `runner` or `wheel`, or a module of either kind. */
  readonly name: string
  /** For a kind by their whole names, for a module by the part after the dot. Undefined: all. */
  readonly functions?: readonly FunctionRule[]
}

/** Returners that jobs may name. */
export interface ReturnerRule {
  readonly on: 'returners'
  readonly place: string
  /** Undefined: all. */
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
