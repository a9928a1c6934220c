import type { LoaderView } from '../author/context.ts'
import type { Param, Params } from '../author/params.ts'
import type { Catalog } from './catalog.ts'
import { type LoadedFunction, plainParams } from './functions.ts'
import { splitName } from './names.ts'
import { paramsOf } from './view.ts'
import { whyMissing } from './why.ts'

/** What a loader offers, as plain JSON: enough to tell elsewhere whether a call can work here. */
export interface Catalogue {
  /** Of a minion of Python Salt, which tells no types. */
  readonly python?: boolean
  /** Functions with parameters in a form that is not known here, which are null below. */
  readonly unreadable?: ReadonlySet<string>
  /** By the name users call; null where the parameters are not known. */
  readonly functions: Readonly<Record<string, Params | null>>
  /** Modules that are there and offer nothing, by the name users know, with {@link ANY} for the function's name. */
  readonly missing: Readonly<Record<string, string>>
}

/** A catalogue as its host reports it. `false`: the parameters were not looked at, and may be secret. */
export interface Description extends Pick<Catalogue, 'missing'> {
  readonly functions: Readonly<Record<string, Params | null | false>>
}

/** Stands for the name of the function that was asked for in a sentence of {@link Catalogue.missing}. */
export const ANY = '*'

interface Described {
  readonly catalog: Catalog
  readonly view: LoaderView
  get(name: string): Promise<LoadedFunction | undefined>
}

/** Users' files are imported for that: in a process that may be killed over it. */
export async function describe({ catalog, view, get }: Described): Promise<Description> {
  for (const file of await catalog.files())
    if (file.excluded === undefined && !catalog.params(file)) await catalog.load(file)
  const functions = new Map<string, Params | null>()
  for (const name of await view.functions()) {
    const params = await paramsOf({ get }, catalog, name)
    if (params) functions.set(name, plain(params))
  }
  const offered = new Set(Array.from(functions.keys(), (name) => splitName(name)[0]))
  const missing = new Map<string, string>()
  for (const name of await knownNames(catalog))
    if (!offered.has(name)) missing.set(name, await whyMissing(catalog, `${name}.${ANY}`))
  return { functions: Object.fromEntries(functions), missing: Object.fromEntries(missing) }
}

async function knownNames(catalog: Catalog): Promise<Set<string>> {
  const names = new Set<string>()
  for (const file of await catalog.files())
    for (const name of [file.name, ...(await catalog.names(file))]) names.add(name)
  return names
}

/** Parameters as JSON; null for plain functions, which do not say what they take. */
export function plain(params: Params): Params | null {
  if (params === plainParams) return null
  const entries = Object.entries(params).map(([name, param]) => [name, jsonParam(param)])
  return Object.fromEntries(entries)
}

/** Of what is no JSON there is only how it is passed, and whether it is secret. */
function jsonParam({ kind, optional, secret, ...param }: Param<unknown>): Param<unknown> {
  try {
    return JSON.parse(JSON.stringify(plainParam({ kind, optional, secret, ...param })))
  } catch {
    return plainParam({ kind, optional, secret, schema: {} })
  }
}

/** Without what only people read. */
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
