import type { Declared, Returned } from './calls.ts'
import type { Context } from './context.ts'
import {
  type Args,
  asParam,
  asParams,
  type Declarations,
  type Param,
  type Params,
  type ParamsOf,
  type ResultInput,
  type Schema,
  type WithReadonlyLists,
} from './params.ts'

const brand = Symbol.for('salt-ts.fn')

/** A function that users call by name, made by {@link fn}. */
export interface Fn<P extends Params = Params, C = Context, R = unknown> {
  readonly params: P
  /** The implementation. The values that an `async function*` yields are shown while it runs. */
  readonly run: (args: Args<P>, context: C) => R
  /** The declared result, if any. It is checked after each call. */
  readonly returns?: Param<unknown, 'value'>
}

type Run<D extends Declarations, R> = (args: Args<D>, context: Context) => R
type NoParams = Record<never, never>

/**
 * Declare a function. The declaration provides its static type, the binding of positional and keyword arguments,
 * validation, help and completion.
 *
 * @example export const ping = fn(() => true)
 * @example export const echo = fn({ text: p.string() }, ({ text }) => text)
 * @example export const size = fn({ path: p.string() }, async ({ path }) => (await stat(path)).size, { returns: p.integer() })
 */
export function fn<R>(run: Run<NoParams, R>): Fn<NoParams, Context, R>
export function fn<const D extends Declarations, R>(params: D, run: Run<D, R>): Fn<ParamsOf<D>, Context, R>
export function fn<
  const D extends Declarations,
  S extends Schema,
  const R extends Returned<WithReadonlyLists<ResultInput<S>>>,
>(
  params: D,
  run: Run<D, R>,
  options: { readonly returns: S },
): Fn<ParamsOf<D>, Context, Declared<R, ResultInput<S>>>
export function fn(...given: [unknown] | [unknown, unknown, { readonly returns?: unknown }?]): unknown {
  const [params, run, { returns } = {}] = given.length === 1 ? [{}, given[0]] : given
  if (typeof run !== 'function')
    throw new TypeError('fn() needs a function to run: fn({ name: p.string() }, ({ name }) => …)')
  return Object.freeze({
    [brand]: true,
    params: Object.freeze(paramsOf(params)),
    run,
    ...(returns !== undefined && { returns: asParam(returns, 'returns of fn()') }),
  })
}

/** Return the parameters of declarations. Throws for what TypeScript would not compile, for authors of JavaScript. */
function paramsOf(given: unknown): Params {
  if (typeof given !== 'object' || given === null)
    throw new TypeError(
      'The first argument of fn() is not a map of parameters: fn({ name: p.string() }, ({ name }) => …)',
    )
  return asParams(given as Declarations, (name) => `The parameter '${name}' of fn()`)
}

/** Whether a value was made by {@link fn}, in this copy of the package or another. */
export function isFn(candidate: unknown): candidate is Fn {
  return typeof candidate === 'object' && candidate !== null && brand in candidate
}
