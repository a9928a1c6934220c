/**
 * The contracts of outputters, grains and matchers. A plugin is a file whose default export is made by one of the
 * functions below.
 */
import { saltLetters, type TargetLetters } from '../dialect/compound-target.ts'
import type { Context, Log } from './context.ts'
import type { Fn } from './fn.ts'

type Grains = Readonly<Record<string, unknown>>

/** Facts for a file that is being loaded. */
export interface LoadFacts {
  readonly grains: Grains
  readonly opts: Context['opts']
  readonly pillar: Grains
  /** Scratch values that all files of the loader share (Salt's `__context__`). */
  readonly context: Map<string, unknown>
  /** Whether there is a function of that name. */
  has(name: string): Promise<boolean>
  /** Call another function, as {@link Context.call} does. Functions that need a job or the minion's services fail. */
  call: Context['call']
}

/** Export `virtual` to decide whether a module is offered. A text is the reason why it is not. */
export type Virtual = (facts: LoadFacts) => boolean | string | Promise<boolean | string>

/**
 * Export `dependsOn`, a list of these, to offer a module, or some of its `functions`, only where its dependencies are
 * present. Each has one of `binary`, `package` or `function`; if that has several names, all are required (Salt's
 * `@depends`).
 */
export type Dependency = Needed & {
  /** The dependent functions, by the names users call; the whole module by default. */
  readonly functions?: readonly string[]
  /** Called instead of these functions where the dependency is missing. */
  readonly fallback?: Fn | ((...args: never[]) => unknown)
}
type Names = string | readonly string[]
type Needed =
  | { readonly binary: Names; readonly package?: never; readonly function?: never }
  | { readonly package: Names; readonly binary?: never; readonly function?: never }
  | { readonly function: Names; readonly binary?: never; readonly package?: never }

/** Turns a value into text for the terminal. */
export interface Outputter {
  /**
   * Return the text of a value, without a line end after the last line. `value` is what Salt passes to its outputters: usually a
   * map id → return.
   */
  render(value: unknown, options: OutputOptions): string
}
export interface OutputOptions {
  readonly color: boolean
  /** Salt's `output_indent`; if undefined, the outputter's own default applies. */
  readonly indent?: number | null
  readonly [extra: string]: unknown
}

/** Collects facts about the host. */
export interface GrainsSource {
  /**
   * Return grains. `grains` has those of the sources before this one. A source that takes longer than 10 seconds is
   * skipped.
   */
  collect(facts: { opts: Context['opts']; grains: Grains; log: Log }): Promise<Record<string, unknown>>
}

/** The minion to match. Grains, pillar and data are undefined where they are not available. */
export interface MatchSubject {
  readonly id: string
  readonly grains?: Grains
  readonly pillar?: Grains
  /** The minion's data store (functions `data.*`), which only the minion itself has. */
  readonly data?: Grains
}

/** `unknown` if the facts to decide are missing. */
export type MatchResult = boolean | 'unknown'

export interface Matcher {
  /** Whether the expression matches a minion. */
  match(expression: unknown, subject: MatchSubject, options: MatchOptions): MatchResult
  /** Parse the expression once, to match many minions. Throws an error with a sentence if it is invalid. */
  prepare?(expression: unknown, options: PrepareOptions): (subject: MatchSubject) => MatchResult
  /** The letter of this type in compound targets: `Z@rack7`. It must not be one of Salt's. */
  readonly letter?: string
  /** Whether the letter may be followed by a delimiter, as that of grains may: `Z|@a|b`. */
  readonly delimited?: boolean
  /**
   * Resolve the expression to ids on the host of the client, before a job is published. It is then not matched
   * elsewhere.
   */
  expand?(expression: unknown, facts: { readonly opts: Context['opts'] }): Promise<readonly string[]>
}

interface TargetOptions {
  readonly delimiter: string
  readonly nodegroups: Readonly<Record<string, unknown>>
}
export interface MatchOptions extends TargetOptions {
  /** Match a target of another type. */
  match(type: string, expression: unknown, delimiter?: string): MatchResult
}
export interface PrepareOptions extends TargetOptions {
  /** The letters of compound targets, with their target types. */
  readonly letters: TargetLetters
  /** Parse a target of another type. */
  prepare(type: string, expression: unknown, delimiter?: string): (subject: MatchSubject) => MatchResult
}

/** The declaration of a matcher: with `match`, `prepare` or both. */
type MatcherPlugin = Omit<Matcher, 'match' | 'prepare'> &
  (Pick<Matcher, 'match' | 'prepare'> | Required<Pick<Matcher, 'prepare'>>)

/** Declare an outputter: the default export of its file. */
export const outputter = (plugin: Outputter): Outputter => plugin
/** Declare a source of grains: the default export of its file. */
export const grains = (plugin: GrainsSource): GrainsSource => plugin
/** Declare a matcher: the default export of its file. */
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
