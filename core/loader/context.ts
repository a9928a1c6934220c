import type { Context } from '../author/context.ts'
import { SaltError } from '../base/errors.ts'
import type { Loader } from './loader.ts'

/**
 * The context of a job's function: the base plus `call` and `loader`. A called function gets a context of its own with
 * `nested: true`: it shares everything but `retcode`, which does not leak to the caller. Getters of the base are kept.
 */
export function createContext(base: Omit<Context, 'call' | 'loader' | 'nested'>, loader: Loader): Context {
  const make = (nested: boolean, retcode: number): Context =>
    Object.defineProperties({} as Context, {
      ...Object.getOwnPropertyDescriptors(base),
      ...Object.getOwnPropertyDescriptors({ retcode, nested, loader: loader.view, call }),
    })
  const call: Context['call'] = async (name, args = [], kwargs = {}) => {
    const found = await loader.get(name)
    if (!found) throw new SaltError('FUNCTION_NOT_FOUND', await loader.why(name), { fun: name })
    return await found.run(found.bind(args, kwargs), make(true, 0))
  }
  return make(false, base.retcode)
}
