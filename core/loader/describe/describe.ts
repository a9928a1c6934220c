import type { LoaderView } from '../../author/context.ts'
import type { JsonSchema, Param, Params } from '../../author/params.ts'
import { paramsOf } from '../calls/view.ts'
import { type LoadedFunction, plainParams } from '../functions.ts'
import { splitName } from '../names.ts'
import { whyMissing } from '../offer/why.ts'
import type { ExtensionFiles } from './extension-files.ts'

/** The functions of a loader as plain JSON, with which another host can predict whether a call works here. */
export interface Catalogue {
  /** Whether it is that of a minion of Python Salt, which reports no types. */
  readonly python?: boolean
  /** Functions with parameters in an unknown form, which are null below. */
  readonly unreadable?: ReadonlySet<string>
  /** Parameters by the name users call; null where they are unknown. */
  readonly functions: Readonly<Record<string, Params | null>>
  /** The schemas of the results that functions of users' files declare, by the names of the functions. */
  readonly returns?: Readonly<Record<string, JsonSchema>>
  /** Messages for modules that exist but offer nothing, by name, with {@link ANY_FUNCTION} in place of the function's name. */
  readonly missing: Readonly<Record<string, string>>
}

/** A catalogue as its host reports it. `false` stands for parameters that were not read, and may be secret. */
export interface Description extends Pick<Catalogue, 'missing' | 'returns'> {
  readonly functions: Readonly<Record<string, Params | null | false>>
}

/** Placeholder for the name of the function in a message of {@link Catalogue.missing}. */
export const ANY_FUNCTION = '*'

interface Described {
  readonly catalog: ExtensionFiles
  readonly view: LoaderView
  get(name: string): Promise<LoadedFunction | undefined>
}

/** Describe the functions of a loader. This imports users' files, so it must run in a process that may be killed. */
export async function describe({ catalog, view, get }: Described): Promise<Description> {
  for (const file of await catalog.files())
    if (file.excluded === undefined && !catalog.params(file)) await catalog.load(file)
  const functions = new Map<string, Params | null>()
  const returns = new Map<string, JsonSchema>()
  for (const name of await view.functions()) {
    const params = await paramsOf({ get }, catalog, name)
    if (!params) continue
    functions.set(name, paramsAsJson(params))
    if (await isOfUser(catalog, name)) {
      const declared = (await get(name))?.returns
      if (declared) returns.set(name, jsonParam(declared).schema)
    }
  }
  const offered = new Set(Array.from(functions.keys(), (name) => splitName(name)[0]))
  const missing = new Map<string, string>()
  for (const name of await knownNames(catalog))
    if (!offered.has(name)) missing.set(name, await whyMissing(catalog, `${name}.${ANY_FUNCTION}`))
  return {
    functions: Object.fromEntries(functions),
    ...(returns.size > 0 && { returns: Object.fromEntries(returns) }),
    missing: Object.fromEntries(missing),
  }
}

/** Whether a file of the user provides a function; it is loaded already. */
async function isOfUser(catalog: ExtensionFiles, name: string): Promise<boolean> {
  const [module, own = ''] = splitName(name)
  for await (const file of catalog.candidates(module))
    if ((await catalog.functions(file)).includes(own)) return !file.builtIn
  return false
}

async function knownNames(catalog: ExtensionFiles): Promise<Set<string>> {
  const names = new Set<string>()
  for (const file of await catalog.files())
    for (const name of [file.name, ...(await catalog.names(file))]) names.add(name)
  return names
}

/** Return parameters that can be written as JSON; null for plain functions, which declare none. */
export function paramsAsJson(params: Params): Params | null {
  if (params === plainParams) return null
  const entries = Object.entries(params).map(([name, param]) => [name, jsonParam(param)])
  return Object.fromEntries(entries)
}

/** Return a parameter that can be written as JSON: without its schema if that cannot. */
function jsonParam(param: Param<unknown>): Param<unknown> {
  const plain = plainParam(param)
  try {
    JSON.stringify(plain)
    return plain
  } catch {
    const { kind, optional, secret } = param
    return plainParam({ kind, optional, secret, schema: {} })
  }
}

/** Return a parameter without its description. */
function plainParam({ kind, schema, optional, default: fallback, secret }: Param<unknown>): Param<unknown> {
  const { description, ...bare } = schema
  return {
    kind,
    schema: bare,
    ...(optional && { optional }),
    ...(fallback !== undefined && { default: fallback }),
    ...(secret && { secret }),
  }
}
