/** The contract of each plugin kind. A plugin is one file whose default export is made by the function named here. */
import { saltLetters, type TargetLetters } from '../base/compound-target.ts'
import type { Context, Log } from './context.ts'
import type { Fn } from './fn.ts'

type Grains = Readonly<Record<string, unknown>>

/** What a file is told while it is loaded. */
export interface LoadFacts {
  readonly grains: Grains
  readonly opts: Context['opts']
  readonly pillar: Grains
  /** Scratch values that all files of the loader share (Salt's `__context__`). */
  readonly context: Map<string, unknown>
  /** Is there a function of that name? */
  has(name: string): Promise<boolean>
  /** Call another function, as {@link Context.call} does. What needs a job or the minion's services fails. */
  call: Context['call']
}

/** Export `virtual` to offer a module only where it makes sense; a text says why it is not offered. */
export type Virtual = (facts: LoadFacts) => boolean | string | Promise<boolean | string>

/**
 * Export `dependsOn`, a list of these, to offer a module, or some of its `functions`, only where what they need is
 * there. Each names one of `binary`, `package` or `function`; several names are all needed (Salt's `@depends`).
 */
export type Dependency = Needed & {
  /** Only these functions, by the names users call; else the whole module. */
  readonly functions?: readonly string[]
  /** Answers in the place of these functions where what they need is missing. */
  readonly fallback?: Fn | ((...args: never[]) => unknown)
}
type Names = string | readonly string[]
type Needed =
  | { readonly binary: Names; readonly package?: never; readonly function?: never }
  | { readonly package: Names; readonly binary?: never; readonly function?: never }
  | { readonly function: Names; readonly binary?: never; readonly package?: never }

/** Turns a value into text for the terminal. */
export interface Outputter {
  /** `value` is what Salt hands its outputters: usually a map id → return. Text without a final line end. */
  render(value: unknown, options: OutputOptions): string
}
export interface OutputOptions {
  readonly color: boolean
  /** Salt's `output_indent`; undefined means the outputter's own default. */
  readonly indent?: number | null
  readonly [extra: string]: unknown
}

/** Collects facts about the host. */
export interface GrainsSource {
  /** `grains` holds what sources before this one gave. What is not there within 10 seconds is done without. */
  collect(facts: { opts: Context['opts']; grains: Grains; log: Log }): Promise<Record<string, unknown>>
}

/** What a matcher may look at: one minion. `undefined` grains, pillar or data means they are not known here. */
export interface MatchSubject {
  readonly id: string
  readonly grains?: Grains
  readonly pillar?: Grains
  /** What its functions `data.*` keep, which it alone knows. */
  readonly data?: Grains
}

/** `unknown` where the facts to decide are missing. */
export type Verdict = boolean | 'unknown'

export interface Matcher {
  /** Decides for one subject. */
  match(expression: unknown, subject: MatchSubject, options: MatchOptions): Verdict
  /** The same for many subjects: reads the expression once. Throws, with a sentence, if it makes no sense. */
  prepare?(expression: unknown, options: PrepareOptions): (subject: MatchSubject) => Verdict
  /** A letter of its own in compound targets: `Z@rack7`. Those of Salt are taken. */
  readonly letter?: string
  /** The letter may be followed by a delimiter, as that of grains may: `Z|@a|b`. */
  readonly delimited?: boolean
  /** Turns the expression into ids before a job is published, on the host of the client; then nobody matches by it. */
  expand?(expression: unknown, facts: { readonly opts: Context['opts'] }): Promise<readonly string[]>
}

interface TargetOptions {
  readonly delimiter: string
  readonly nodegroups: Readonly<Record<string, unknown>>
}
export interface MatchOptions extends TargetOptions {
  /** Evaluates another kind of target. */
  match(type: string, expression: unknown, delimiter?: string): Verdict
}
export interface PrepareOptions extends TargetOptions {
  /** Which letters compound targets may have, and what they stand for. */
  readonly letters: TargetLetters
  /** Reads another kind of target. */
  prepare(type: string, expression: unknown, delimiter?: string): (subject: MatchSubject) => Verdict
}

/** A matcher as it is written: with `match`, `prepare` or both. */
type MatcherPlugin = Omit<Matcher, 'match' | 'prepare'> &
  (Pick<Matcher, 'match' | 'prepare'> | Required<Pick<Matcher, 'prepare'>>)

/** Give the contract's type to a plugin's default export. */
export const outputter = (plugin: Outputter): Outputter => plugin
export const grains = (plugin: GrainsSource): GrainsSource => plugin
export const matcher = (plugin: MatcherPlugin): Matcher =>
  'match' in plugin ? plugin : { ...plugin, match: preparedMatch(plugin) }

function preparedMatch({ prepare }: Required<Pick<Matcher, 'prepare'>>): Matcher['match'] {
  return (expression, subject, { match, ...options }) => {
    const other: PrepareOptions['prepare'] =
      (...target) =>
      () =>
        match(...target)
    return prepare(expression, { ...options, letters: saltLetters, prepare: other })(subject)
  }
}
