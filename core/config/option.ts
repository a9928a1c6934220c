import type { JsonSchema } from '../author/params.ts'

/** An option of a configuration file. Options are declared in tables of these only. */
export interface Option<T = unknown> {
  readonly schema: JsonSchema
  readonly default: T
  /** A one-line description. */
  readonly doc: string
  /** Whether the option is a file or directory, which `root_dir` is prepended to. */
  readonly path?: true
  /** Whether the text is compared ignoring case, as in Salt. */
  readonly lowercase?: true
  /** Whether the option is checked but has no effect yet. */
  readonly later?: true
}

export type OptionTable = Readonly<Record<string, Option>>

/** Types of the values of an option table. */
export type OptionsOf<T extends OptionTable> = {
  readonly [K in keyof T]: T[K] extends Option<infer V> ? V : never
}

export type OptionMap = Readonly<Record<string, unknown>>
type Names = readonly string[]

/** Adds `undefined` to the type of an option whose default is `undefined`. */
type OrUnset<T, D> = T | Extract<D, undefined>
interface Range {
  readonly minimum?: number
  readonly maximum?: number
}

function option<T>(schema: JsonSchema, fallback: unknown, doc: string): Option<T> {
  return { schema, default: fallback as T, doc }
}

export const text = <const D extends string | undefined>(fallback: D, doc: string) =>
  option<OrUnset<string, D>>({ type: 'string' }, fallback, doc)

export const flag = (fallback: boolean, doc: string) => option<boolean>({ type: 'boolean' }, fallback, doc)

export const integer = <const D extends number | undefined>(fallback: D, doc: string, range: Range = {}) =>
  option<OrUnset<number, D>>({ type: 'integer', ...range }, fallback, doc)

/** A count, or a time in whole seconds: an integer from 0 up. */
export const count = (fallback: number, doc: string) => integer(fallback, doc, { minimum: 0 })

export const number = <const D extends number | undefined>(fallback: D, doc: string, range: Range = {}) =>
  option<OrUnset<number, D>>({ type: 'number', ...range }, fallback, doc)

/** A time in seconds, fractions allowed. */
export const seconds = (fallback: number, doc: string) => number(fallback, doc, { minimum: 0 })

export const port = <const D extends number | undefined>(fallback: D, doc: string) =>
  integer(fallback, doc, { minimum: 0, maximum: 65535 })

/** One of several words, ignoring case. */
export const choice = <const C extends string>(choices: readonly C[], fallback: NoInfer<C>, doc: string) => ({
  ...oneOf(choices, fallback, doc),
  lowercase: true as const,
})

/** One of several names, compared exactly. */
export const oneOf = <const C extends string>(names: readonly C[], fallback: NoInfer<C>, doc: string) =>
  option<C>({ type: 'string', enum: names }, fallback, doc)

export const list = (fallback: Names, doc: string): Option<Names> =>
  option<Names>({ type: 'array', items: { type: 'string' } }, fallback, doc)

/** A list of anything, for options with entries of several shapes. */
export const entries = (doc: string) => option<readonly unknown[]>({ type: 'array' }, [], doc)

/** One name, or several. */
export const textOrList = <const D extends string | Names | undefined>(fallback: D, doc: string) =>
  option<OrUnset<string | Names, D>>({ type: ['string', 'array'], items: { type: 'string' } }, fallback, doc)

export const map = (doc: string, fallback: OptionMap = {}): Option<OptionMap> =>
  option<OptionMap>({ type: 'object' }, fallback, doc)

/** A value of several types, with its schema. */
export const value = <T>(schema: JsonSchema, fallback: T, doc: string): Option<T> =>
  option<T>(schema, fallback, doc)

/** A file or directory. */
export const path = <const D extends string | undefined>(fallback: D, doc: string) => ({
  ...text(fallback, doc),
  path: true as const,
})

/** Mark an option that has no effect yet. */
export const later = <T>(known: Option<T>): Option<T> => ({ ...known, later: true })
