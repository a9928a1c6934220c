import type { ResultOf } from '../author/calls.ts'
import { type Functions, isFn } from '../author/index.ts'
import { didYouMean } from '../base/closest.ts'
import { type LoadedFunction, listFunctions, makeLoaded } from '../loader/functions.ts'
import type { Loader } from '../loader/index.ts'

/** In `calls`: let this function really run. */
export const real: unique symbol = Symbol('real')

type Values = Readonly<Record<string, unknown>>

/** Stands for a function: the result itself, what makes it from the values of the parameters, or another function. */
type Fake<F> =
  | ResultOf<F>
  | ((given: Values) => ResultOf<F> | Promise<ResultOf<F>>)
  | { readonly run: unknown; readonly params: unknown }
  | typeof real

/** Of a function that TypeScript does not know. */
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

/** What stands for the functions that are called by name. */
export type Fakes = { readonly [N in keyof Functions]?: Fake<Functions[N]> } & Readonly<
  Record<string, AnyFake>
>

/** A call that was made, with the values of the parameters: by name, defaults filled in. */
export interface CallMade {
  readonly name: string
  readonly given: Values
}

/**
 * A loader that has the fakes and nothing else. Those of functions that exist take the arguments of what they stand for: a
 * call that the real function would refuse is refused here, too.
 */
export function fakingLoader(fakes: Values, actual: Loader, made: CallMade[]): Loader {
  const get = async (name: string): Promise<LoadedFunction | undefined> => {
    if (!Object.hasOwn(fakes, name)) return undefined
    const fake = fakes[name]
    const stands = fake === real ? await actual.get(name) : await standIn(name, fake, actual)
    return stands && noting(stands, made)
  }
  const why = async (name: string): Promise<string> => {
    if (Object.hasOwn(fakes, name)) return actual.why(name)
    return `The test has nothing for call('${name}'): say what it gives, { calls: { '${name}': … } }, or let it run with the value real.`
  }
  const hint = async (name: string) => didYouMean(name, Object.keys(fakes))
  return { ...actual, get, why, hint }
}

async function standIn(name: string, fake: unknown, actual: Loader): Promise<LoadedFunction> {
  if (isFn(fake)) return makeLoaded(name, fake, undefined)
  const params = await actual.params(name).catch(() => undefined)
  const run = (given: Values) => (typeof fake === 'function' ? fake(given) : fake)
  if (params) return makeLoaded(name, { params, run }, undefined)
  return { name, params: {}, bind: (args, kwargs) => ({ ...kwargs, args }), run: async (given) => run(given) }
}

function noting(loaded: LoadedFunction, made: CallMade[]): LoadedFunction {
  return {
    ...loaded,
    run: (given, ...rest) => {
      made.push({ name: loaded.name, given })
      return loaded.run(given, ...rest)
    },
  }
}

/** Whatever an extension may export as a function, ready to be called. */
export function loadedAs(name: string, given: unknown): LoadedFunction {
  const found = listFunctions({ tested: given }).get('tested')
  if (!found) throw new TypeError('What is to be run is no function, and none that fn() made.')
  return makeLoaded(name, found, undefined)
}
