import type { Params } from '../../author/params.ts'
import { closest } from '../../base/closest.ts'
import { messageOf, SaltError } from '../../base/errors.ts'
import { type RawArguments, type RawCallArguments, rawArgumentsAt } from '../../wire/raw-arguments.ts'
import { ANY_FUNCTION, type Catalogue } from '../describe/describe.ts'
import type { LoadedFunction } from '../functions.ts'
import type { Loader } from '../loader.ts'
import { splitName } from '../names.ts'
import { splitArguments } from './arguments.ts'
import { bind } from './bind.ts'
import { checkTypes } from './check-types.ts'
import { withWords } from './typed.ts'
import type { Arguments } from './words.ts'

/** A function with its arguments as they are published, and as they were typed. */
export interface PublishedCall {
  readonly fun: string
  readonly arg: readonly unknown[]
  readonly words?: RawCallArguments | undefined
}

/** The predicted outcome of a call: the values its function receives, or the message with which its host refuses it. */
export type PredictedCall =
  | { readonly values: Readonly<Record<string, unknown>> | undefined; readonly params: Params | null }
  | { readonly refusal: string }

/** Predict the outcome of a call on the host of a catalogue; `values` is undefined where that is not possible. */
export function predictCall(call: PublishedCall, catalogue: Catalogue): PredictedCall {
  const { fun } = call
  if (!Object.hasOwn(catalogue.functions, fun)) return { refusal: whyNot(fun, catalogue) }
  const params = catalogue.functions[fun] ?? null
  if (!params) return { values: undefined, params }
  const attempt = attempted(call, (args, kwargs) =>
    bind({ name: fun, args, kwargs }, params, checkTypes(params)),
  )
  return 'refusal' in attempt ? attempt : { ...attempt, params }
}

/**
 * Return why each call would be refused here, or null. `isElsewhere`: whether an executor runs a function that is not
 * here.
 */
export function refusalsHere(
  calls: readonly PublishedCall[],
  loader: Loader,
  isElsewhere: (fun: string) => Promise<boolean> = async () => false,
): Promise<(string | null)[]> {
  return Promise.all(calls.map(async (call) => (await refusalHere(call, loader, isElsewhere)) ?? null))
}

/** Do the steps of a job before its function runs, and return the message if one fails. */
async function refusalHere(
  call: PublishedCall,
  loader: Loader,
  isElsewhere: (fun: string) => Promise<boolean>,
): Promise<string | undefined> {
  const found = await loader.get(call.fun)
  if (found) return refusalOf(call, found)
  return (await isElsewhere(call.fun)) ? undefined : loader.why(call.fun)
}

/** Return why a function would refuse the arguments of a call. */
export function refusalOf(call: PublishedCall, found: Pick<LoadedFunction, 'bind'>): string | undefined {
  const attempt = attempted(call, (args, kwargs) => found.bind(args, kwargs, {}))
  return 'refusal' in attempt ? attempt.refusal : undefined
}

/** Try to bind the arguments. Only errors about arguments are refusals; others may not occur on the other host. */
function attempted(
  { fun, arg, words }: PublishedCall,
  binding: (...given: [Arguments['args'], Arguments['kwargs']]) => Record<string, unknown>,
): { readonly values: Record<string, unknown> | undefined } | { readonly refusal: string } {
  try {
    const { args, kwargs } = withWords(splitArguments(arg), words)
    return { values: binding(args, kwargs) }
  } catch (error) {
    const code = SaltError.is(error) ? error.code : undefined
    if (code === 'INVOCATION') return { refusal: `ERROR executing '${fun}': ${messageOf(error)}` }
    if (code === 'INVALID_ARGUMENTS') return { refusal: messageOf(error) }
    return { values: undefined }
  }
}

function whyNot(fun: string, { missing }: Catalogue): string {
  const [module] = splitName(fun)
  const reason = Object.hasOwn(missing, module) ? missing[module] : undefined
  return reason?.replaceAll(`'${module}.${ANY_FUNCTION}'`, () => `'${fun}'`) ?? `'${fun}' is not available.`
}

/** Return the name nearest to an unknown function or keyword argument. */
export function suggestName(call: PublishedCall, { functions, missing }: Catalogue): string | undefined {
  const { fun } = call
  if (!Object.hasOwn(functions, fun)) {
    if (Object.hasOwn(missing, splitName(fun)[0])) return undefined
    return closest(fun, Object.keys(functions))
  }
  const params = functions[fun]
  if (!params || Object.values(params).some(({ kind }) => kind === 'keywords')) return undefined
  const unknown = Object.keys(splitArguments(call.arg).kwargs).find((name) => !Object.hasOwn(params, name))
  return unknown === undefined ? undefined : closest(unknown, Object.keys(params))
}

/** Return the calls of a job, in order. */
export function callsOf(job: {
  readonly fun: string | readonly string[]
  readonly arg: readonly unknown[]
  readonly words?: RawArguments | undefined
}): PublishedCall[] {
  const { fun, arg, words } = job
  if (typeof fun === 'string') return [{ fun, arg, words: rawArgumentsAt(words, 0) }]
  return fun.map((name, index) => {
    const own = arg[index]
    return { fun: name, arg: Array.isArray(own) ? own : [], words: rawArgumentsAt(words, index) }
  })
}
