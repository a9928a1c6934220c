/** The types of `call('cmd.run', { cmd: 'id' })`: names, arguments and results of functions that are called by name. */
import type { Input, Param, Params } from './params.ts'

/**
 * The functions that `call` has types for: `'cmd.run': typeof import('./cmd.js').run`. Those of salt-ts are included; the
 * command `salt-ts types` writes a file that adds those of a directory of modules.
 */
// biome-ignore lint/suspicious/noEmptyInterface: open for declaration merging
export interface Functions {}

declare const isUntyped: unique symbol

/** The name of a function that may have no known types, made by {@link untyped}. */
export type UntypedName = string & { readonly [isUntyped]: true }

/**
 * Return a name as that of a function of which no types are known: it takes any arguments, and its result is `unknown`.
 *
 * @example await call(untyped('state.apply'), ['web'])
 */
export const untyped = (name: string): UntypedName => name as UntypedName

/** A name in {@link Functions}, or one made by {@link untyped}. */
export type FunctionName = Extract<keyof Functions, string> | UntypedName

// Conditional types over `N` or `F` are avoided here: TypeScript would resolve the types of all functions for each one, and the
// type of a function that returns the result of `call` would be circular.

/** The arguments of `call` after the name. That of {@link untyped} accepts any. */
export type CallArguments<N> = [N] extends [keyof Functions]
  ? ArgumentsOf<Functions[N]>
  : [args?: readonly unknown[] | Keywords, kwargs?: Keywords]

/** The result of `call`; `unknown` for that of {@link untyped}. */
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
  : { readonly [K in Required<P>]: Input<P[K]> } & {
      readonly [K in Exclude<Names<P>, Required<P>>]?: Input<P[K]>
    } & ([Collector<P>] extends [never] ? unknown : Keywords)

/** The name of the parameter that takes all other keywords. */
type Collector<P extends Params> = {
  [K in keyof P]: P[K] extends Param<unknown, 'keywords'> ? K : never
}[keyof P]

/** Positional values. Types do not have the order of parameters: each value has to fit one of them. */
type Positional<P extends Params> = readonly (Input<P[Names<P>]> | Rest<P>)[]
type Rest<P extends Params> = {
  [K in keyof P]: P[K] extends Param<unknown, 'rest', boolean, readonly (infer I)[]> ? I : never
}[keyof P]

/** The function of a job, or several. */
export type JobFunctions = FunctionName | readonly FunctionName[]

/** What a job gives its function: values by position, by name, or both. Several functions get a list of values each. */
export type JobArguments<F> = F extends readonly unknown[]
  ? {
      readonly arg?: {
        readonly [K in keyof F]: F[K] extends keyof Functions ? ListFor<Functions[F[K]]> : readonly unknown[]
      }
      readonly kwarg?: undefined
    }
  : F extends keyof Functions
    ? GivenTo<Functions[F]>
    : AnyGiven

interface AnyGiven {
  readonly arg?: readonly unknown[]
  readonly kwarg?: Keywords | undefined
}

type GivenTo<F> = [F] extends [{ readonly params: infer P extends Params }]
  ? [Required<P>] extends [never]
    ? { readonly arg?: Positional<P>; readonly kwarg?: Partial<Named<P>> | undefined }
    :
        | { readonly arg: Positional<P>; readonly kwarg?: Partial<Named<P>> | undefined }
        | { readonly arg?: undefined; readonly kwarg: Named<P> }
  : [F] extends [(...given: infer A) => unknown]
    ? { readonly arg?: Readonly<A>; readonly kwarg?: undefined }
    : AnyGiven

type ListFor<F> = [F] extends [{ readonly params: infer P extends Params }]
  ? Positional<P>
  : [F] extends [(...given: infer A) => unknown]
    ? Readonly<A>
    : readonly unknown[]

/** What a job returns: the result of its function or, for several, a map with the result of each. */
export type JobReturn<F> = F extends readonly (infer N)[]
  ? { readonly [K in Extract<N, string>]: CallResult<K> }
  : CallResult<F>
