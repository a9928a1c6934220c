import type { Context } from './context.ts'
import type { Args, Params } from './params.ts'

const brand = Symbol.for('salt-ts.fn')

/** A function that users call by name: its parameters, and what it does. Made by {@link fn}. */
export interface Fn<P extends Params = Params, C = Context> {
  readonly params: P
  readonly run: (args: Args<P>, context: C) => unknown
}

type Run<P extends Params, C, R> = (args: Args<P>, context: C) => R

/**
 * Declare a function. From this one value come the static type, binding of positional and keyword arguments,
 * validation, help and completion.
 *
 * @example export const ping = fn(() => true)
 * @example export const echo = fn({ text: p.string() }, ({ text }) => text)
 */
export function fn<R>(run: Run<Record<never, never>, Context, R>): Fn<Record<never, never>, Context>
export function fn<const P extends Params, R>(params: P, run: Run<P, Context, R>): Fn<P, Context>
export function fn(...given: [unknown] | [Params, unknown]): unknown {
  const [params, run] = given.length === 1 ? [{}, given[0]] : given
  return Object.freeze({ [brand]: true, params: Object.freeze(params), run })
}

/** True for what {@link fn} made, by this copy of the package or another. */
export function isFn(candidate: unknown): candidate is Fn {
  return typeof candidate === 'object' && candidate !== null && brand in candidate
}
