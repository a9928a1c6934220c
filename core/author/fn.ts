import type { Declared, Returned } from './calls.ts'
import type { Context } from './context.ts'
import { type Args, type Param, type Params, refuseNoParam } from './params.ts'

const brand = Symbol.for('salt-ts.fn')

/** A function that users call by name, made by {@link fn}. */
export interface Fn<P extends Params = Params, C = Context, R = unknown> {
  readonly params: P
  /** The implementation. The values that an `async function*` yields are shown while it runs. */
  readonly run: (args: Args<P>, context: C) => R
  /** The declared result, if any. It is checked after each call. */
  readonly returns?: Param<unknown, 'value'>
}

type Run<P extends Params, R> = (args: Args<P>, context: Context) => R
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
export function fn<const P extends Params, R>(params: P, run: Run<P, R>): Fn<P, Context, R>
export function fn<const P extends Params, T, const R extends Returned<T>>(
  params: P,
  run: Run<P, R>,
  options: { readonly returns: Param<T, 'value'> },
): Fn<P, Context, Declared<R, T>>
export function fn(...given: [unknown] | [Params, unknown, { readonly returns?: unknown }?]): unknown {
  const [params, run, { returns } = {}] = given.length === 1 ? [{}, given[0]] : given
  refuseUndeclared(params, run, returns)
  return Object.freeze({ [brand]: true, params: Object.freeze(params), run, ...(returns ? { returns } : {}) })
}

/**
 * Refuse declarations that TypeScript would not compile, so that authors of JavaScript get an error when the file is
 * loaded.
 */
function refuseUndeclared(params: unknown, run: unknown, returns: unknown): void {
  if (typeof run !== 'function')
    throw new TypeError('fn() needs a function to run: fn({ name: p.string() }, ({ name }) => …)')
  if (typeof params !== 'object' || params === null)
    throw new TypeError(
      'The first argument of fn() is not a map of parameters: fn({ name: p.string() }, ({ name }) => …)',
    )
  for (const [name, param] of Object.entries(params)) refuseNoParam(param, `The parameter '${name}' of fn()`)
  if (returns !== undefined) refuseNoParam(returns, 'returns of fn()')
}

/** Whether a value was made by {@link fn}, in this copy of the package or another. */
export function isFn(candidate: unknown): candidate is Fn {
  return typeof candidate === 'object' && candidate !== null && brand in candidate
}
