import type { Context } from '../../author/context.ts'
import { SaltError } from '../../base/errors.ts'
import { frozenCopy } from '../frozen.ts'
import type { Loader } from '../loader.ts'
import { maskingLog } from './masking-log.ts'

type Keywords = Readonly<Record<string, unknown>>
/** Arguments by position, or by name. */
type Given = readonly unknown[] | Keywords

const isList = (given: Given): given is readonly unknown[] => Array.isArray(given)

/** Whether these are arguments; modules in JavaScript may pass anything. */
const areArguments = (given: unknown, more: unknown): boolean =>
  [given, more].every((one) => typeof one === 'object') && !Array.isArray(more)

const wrongArguments = (name: string): string =>
  `The arguments of call('${name}', …) must be a map of values by name, or a list of values that a map of further values by name may follow: call('cmd.run', ['id'], { cwd: '/' }).`

/**
 * Make the context of a job's function: the base plus `call` and `loader`. A called function receives a context with
 * `nested: true` that shares everything else, including the exit code: as in Salt, a command that fails inside a called
 * function makes the job fail. Getters of the base are kept. The log masks the values of all `p.secret` parameters.
 */
export function createContext(
  base: Omit<Context, 'call' | 'loader' | 'nested'>,
  loader: Pick<Loader, 'get' | 'why' | 'hint' | 'view'>,
): Context {
  let { retcode } = base
  const exitCode = {
    get retcode() {
      return retcode
    },
    set retcode(code) {
      retcode = code
    },
  }
  const log = maskingLog(base.log)
  const given = withFrozenFacts(Object.getOwnPropertyDescriptors(base))
  const make = (nested: boolean): Context =>
    Object.defineProperties({} as Context, {
      ...given,
      ...Object.getOwnPropertyDescriptors({ nested, loader: loader.view, call, log }),
      ...Object.getOwnPropertyDescriptors(exitCode),
    })
  const callByName = async (name: string, given: Given = [], more: Keywords = {}): Promise<unknown> => {
    if (!areArguments(given, more)) throw new SaltError('INVOCATION', wrongArguments(name), { fun: name })
    const found = await loader.get(name)
    if (!found) {
      const sentence = `${await loader.why(name)}${await loader.hint(name)}`
      throw new SaltError('FUNCTION_NOT_FOUND', sentence, { fun: name })
    }
    const [args, kwargs] = isList(given) ? [given, more] : [[], { ...given, ...more }]
    return await found.run(found.bind(args, kwargs), make(true))
  }
  const call = callByName as Context['call']
  return make(false)
}

/** Freeze the facts that functions of several jobs share; writing to them throws. */
function withFrozenFacts(descriptors: PropertyDescriptorMap): PropertyDescriptorMap {
  const facts = ['opts', 'grains', 'pillar'].flatMap((name) => {
    const { [name]: descriptor } = descriptors
    return descriptor && 'value' in descriptor
      ? [[name, { ...descriptor, value: frozenCopy(descriptor.value) }]]
      : []
  })
  return { ...descriptors, ...Object.fromEntries(facts) }
}
