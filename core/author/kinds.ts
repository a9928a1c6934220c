/** The contract of each plugin kind. A plugin is one file whose default export is made by the function named here. */
import type { Context, Log } from './context.ts'

type Grains = Readonly<Record<string, unknown>>

/** Export `virtual` to offer a module only where it makes sense; a text says why it is not offered. */
export type Virtual = (facts: {
  grains: Grains
  opts: Context['opts']
}) => boolean | string | Promise<boolean | string>

/**
 * Export `dependsOn`, a list of these, to offer a module, or some of its `functions`, only where what they need is
 * there. Each names one of `binary`, `package` or `function`; several names are all needed (Salt's `@depends`).
 */
export type Dependency = Needed & {
  /** Only these functions, by the names users call; else the whole module. */
  readonly functions?: readonly string[]
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
  /** `grains` holds what sources before this one gave. */
  collect(facts: { opts: Context['opts']; grains: Grains; log: Log }): Promise<Record<string, unknown>>
}

/** What a matcher may look at: one minion. `undefined` grains or pillar means they are not known here. */
export interface MatchSubject {
  readonly id: string
  readonly grains?: Grains
  readonly pillar?: Grains
}

/** `unknown` where the facts to decide are missing. */
export type Verdict = boolean | 'unknown'

export interface Matcher {
  /** Decides for one subject. `match` evaluates another kind of target (used by compound). */
  match(
    expression: unknown,
    subject: MatchSubject,
    options: {
      readonly delimiter: string
      readonly nodegroups: Readonly<Record<string, unknown>>
      match(type: string, expression: unknown, delimiter?: string): Verdict
    },
  ): Verdict
}

/** Give the contract's type to a plugin's default export. */
export const outputter = (plugin: Outputter): Outputter => plugin
export const grains = (plugin: GrainsSource): GrainsSource => plugin
export const matcher = (plugin: Matcher): Matcher => plugin
