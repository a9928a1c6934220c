import type { Params } from '../author/params.ts'
import { closest } from '../base/closest.ts'
import { messageOf, SaltError } from '../base/errors.ts'
import { type JobWords, type TypedWords, wordsAt } from '../wire/typed-words.ts'
import { splitArguments } from './arguments.ts'
import { bind } from './bind.ts'
import { checkTypes } from './check-types.ts'
import { ANY, type Catalogue } from './describe.ts'
import type { Loader } from './loader.ts'
import { splitName } from './names.ts'
import { withWords } from './typed.ts'
import type { Arguments } from './words.ts'

/** One function with its arguments as they are published, and as they were typed. */
export interface PublishedCall {
  readonly fun: string
  readonly arg: readonly unknown[]
  readonly words?: TypedWords | undefined
}

/** What would become of a call: the values its function gets, or why it is refused, as its host would say it. */
export type Foreseen =
  | { readonly values: Readonly<Record<string, unknown>> | undefined; readonly params: Params | null }
  | { readonly refusal: string }

/** What the host of a catalogue would do with a call; `values` undefined where it cannot be told from here. */
export function foresee(call: PublishedCall, catalogue: Catalogue): Foreseen {
  const { fun } = call
  if (!Object.hasOwn(catalogue.functions, fun)) return { refusal: whyNot(fun, catalogue) }
  const params = catalogue.functions[fun] ?? null
  if (!params) return { values: undefined, params }
  const attempt = attempted(call, (args, kwargs) =>
    bind({ name: fun, args, kwargs }, params, checkTypes(params)),
  )
  return 'refusal' in attempt ? attempt : { ...attempt, params }
}

/** Say why each of the calls would be refused here, or null. `isElsewhere`: whether an executor runs a function that is not here. */
export function refusalsHere(
  calls: readonly PublishedCall[],
  loader: Loader,
  isElsewhere: (fun: string) => Promise<boolean> = async () => false,
): Promise<(string | null)[]> {
  return Promise.all(calls.map(async (call) => (await refusalHere(call, loader, isElsewhere)) ?? null))
}

/** What a job does up to the point where its function would run. */
async function refusalHere(
  call: PublishedCall,
  loader: Loader,
  isElsewhere: (fun: string) => Promise<boolean>,
): Promise<string | undefined> {
  const found = await loader.get(call.fun)
  if (!found) return (await isElsewhere(call.fun)) ? undefined : loader.why(call.fun)
  const attempt = attempted(call, (args, kwargs) => found.bind(args, kwargs, {}))
  return 'refusal' in attempt ? attempt.refusal : undefined
}

/** Only what is said of the arguments is a refusal; whatever else goes wrong may be another matter there. */
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
  return reason?.replaceAll(`'${module}.${ANY}'`, () => `'${fun}'`) ?? `'${fun}' is not available.`
}

/** What was probably meant by a function or a keyword argument that does not exist. */
export function meantInstead(call: PublishedCall, { functions, missing }: Catalogue): string | undefined {
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

/** The calls of a job, in order. */
export function callsOf(job: {
  readonly fun: string | readonly string[]
  readonly arg: readonly unknown[]
  readonly words?: JobWords | undefined
}): PublishedCall[] {
  const { fun, arg, words } = job
  if (typeof fun === 'string') return [{ fun, arg, words: wordsAt(words, 0) }]
  return fun.map((name, index) => {
    const own = arg[index]
    return { fun: name, arg: Array.isArray(own) ? own : [], words: wordsAt(words, index) }
  })
}
