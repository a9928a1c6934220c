/** The types of `call('cmd.run', { cmd: 'id' })`: names, arguments and results of functions that are called by name. */
import type { Args, Param, Params } from './params.ts'

/**
 * The functions that `call` has types for: `'cmd.run': typeof import('./cmd.js').run`. Those of salt-ts are included; the
 * command `salt-ts types` writes a file that adds those of a directory of modules.
 */
// biome-ignore lint/suspicious/noEmptyInterface: open for declaration merging
export interface Functions {}

/** A name in {@link Functions}, or any other. */
export type FunctionName = Extract<keyof Functions, string> | (string & Record<never, never>)

// Conditional types over `N` or `F` are avoided here: TypeScript would resolve the types of all functions for each one, and the
// type of a function that returns the result of `call` would be circular.

/** The arguments of `call` after the name. A function without known types accepts any. */
export type CallArguments<N> = [N] extends [keyof Functions]
  ? ArgumentsOf<Functions[N]>
  : [args?: readonly unknown[] | Keywords, kwargs?: Keywords]

/** The result of `call`; `unknown` for a function without known types. */
export type CallResult<N> = [N] extends [keyof Functions] ? ResultOf<Functions[N]> : unknown

type Keywords = Readonly<Record<string, unknown>>

/** The arguments of a function: a map of values by name, or a list by position and more by name. */
export type ArgumentsOf<F> = [F] extends [{ readonly params: infer P extends Params }]
  ? [Required<P>] extends [never]
    ? [args?: Named<P> | Positional<P>, kwargs?: Partial<Named<P>>]
    : [args: Named<P> | Positional<P>, kwargs?: Partial<Named<P>>]
  : [F] extends [(...given: infer A) => unknown]
    ? [args?: Readonly<A>]
    : [args?: readonly unknown[] | Keywords, kwargs?: Keywords]

/** The result of a call of the function. */
export type ResultOf<F> = [F] extends [{ readonly run: (...given: never) => infer R }]
  ? Result<R>
  : [F] extends [(...given: never) => infer R]
    ? Result<R>
    : unknown

/**
 * The result of a call of a function that returns R: the value of a promise; for a generator its return value, or else the
 * list of the values it yielded.
 */
export type Result<R> =
  R extends AsyncGenerator<infer Row, infer End, infer _Next>
    ? Collected<Row, End>
    : R extends Generator<infer Row, infer End, infer _Next>
      ? Collected<Row, End>
      : Awaited<R>
type Collected<Row, End> = undefined extends End ? Exclude<End, void> | Row[] : End

/** The return types of functions whose calls have the result T. */
export type Returned<T> =
  | T
  | Promise<T>
  | AsyncGenerator<unknown, T>
  | (T extends readonly (infer Row)[] ? AsyncGenerator<Row, void> : never)

/** The return type R of a function whose calls are declared to have the result T. */
export type Declared<R, T> =
  R extends AsyncGenerator<infer Row> ? AsyncGenerator<Row, T> : R extends Promise<unknown> ? Promise<T> : T

/** Parameters that are given by name. */
type Names<P extends Params> = { [K in keyof P]: P[K] extends Param<unknown, 'value'> ? K : never }[keyof P]
type Optional<P extends Params> = {
  [K in keyof P]: P[K] extends Param<unknown, 'value', true> ? K : never
}[keyof P]
type Required<P extends Params> = Exclude<Names<P>, Optional<P>>

type Named<P extends Params> = [Names<P> | Collector<P>] extends [never]
  ? Readonly<Record<string, never>>
  : Readonly<Pick<Args<P>, Required<P>>> &
      Readonly<Partial<Pick<Args<P>, Exclude<Names<P>, Required<P>>>>> &
      ([Collector<P>] extends [never] ? unknown : Keywords)

/** The name of the parameter that takes all other keywords. */
type Collector<P extends Params> = {
  [K in keyof P]: P[K] extends Param<unknown, 'keywords'> ? K : never
}[keyof P]

/** Positional values. Types do not have the order of parameters: each value has to fit one of them. */
type Positional<P extends Params> = readonly (Args<P>[Names<P>] | Rest<P>)[]
type Rest<P extends Params> = {
  [K in keyof P]: P[K] extends Param<readonly (infer T)[], 'rest'> ? T : never
}[keyof P]
