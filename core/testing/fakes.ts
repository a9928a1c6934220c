import type { ResultOf } from '../author/calls.ts'
import { type Functions, isFn } from '../author/index.ts'
import { didYouMean } from '../base/closest.ts'
import { type LoadedFunction, listFunctions, makeLoaded } from '../loader/functions.ts'
import type { Loader } from '../loader/index.ts'

/** A value in `calls` that makes the real function run. */
export const real: unique symbol = Symbol('real')

type Values = Readonly<Record<string, unknown>>

/**
 * A replacement for a function: its result, a function that computes it from the values of the parameters, or a function
 * made by `fn`.
 */
type Fake<F> =
  | ResultOf<F>
  | ((given: Values) => ResultOf<F> | Promise<ResultOf<F>>)
  | { readonly run: unknown; readonly params: unknown }
  | typeof real

/** A replacement for a function without known types. */
type AnyFake =
  | string
  | number
  | bigint
  | boolean
  | symbol
  | object
  | null
  | undefined
  | ((given: Values) => unknown)

/** Replacements for functions that are called by name. */
export type Fakes = { readonly [N in keyof Functions]?: Fake<Functions[N]> } & Readonly<
  Record<string, AnyFake>
>

/** A recorded call with the values of the parameters by name, including defaults. */
export interface RecordedCall {
  readonly name: string
  readonly given: Values
}

/**
 * Make a loader that has only the fakes. The fake of an existing function has its parameters: a call that the real function
 * would refuse is refused, too.
 */
export function createFakeLoader(fakes: Values, actual: Loader, made: RecordedCall[]): Loader {
  const get = async (name: string): Promise<LoadedFunction | undefined> => {
    if (!Object.hasOwn(fakes, name)) return undefined
    const fake = fakes[name]
    const found = fake === real ? await actual.get(name) : await replacement(name, fake, actual)
    return found && recording(found, made)
  }
  const why = async (name: string): Promise<string> => {
    if (Object.hasOwn(fakes, name)) return actual.why(name)
    return `The test does not provide call('${name}'): pass its result, { calls: { '${name}': … } }, or real to run the function.`
  }
  const hint = async (name: string) => didYouMean(name, Object.keys(fakes))
  return { ...actual, get, why, hint }
}

async function replacement(name: string, fake: unknown, actual: Loader): Promise<LoadedFunction> {
  if (isFn(fake)) return makeLoaded(name, fake, undefined)
  const params = await actual.params(name).catch(() => undefined)
  const run = (given: Values) => (typeof fake === 'function' ? fake(given) : fake)
  if (params) return makeLoaded(name, { params, run }, undefined)
  return { name, params: {}, bind: (args, kwargs) => ({ ...kwargs, args }), run: async (given) => run(given) }
}

function recording(loaded: LoadedFunction, made: RecordedCall[]): LoadedFunction {
  return {
    ...loaded,
    run: (given, ...rest) => {
      made.push({ name: loaded.name, given })
      return loaded.run(given, ...rest)
    },
  }
}

/** Make a function, in any form that an extension may export, ready to be called. */
export function loadedAs(name: string, given: unknown): LoadedFunction {
  const found = listFunctions({ tested: given }).get('tested')
  if (!found) throw new TypeError('The value to run is neither a function nor made by fn().')
  return makeLoaded(name, found, undefined)
}
