import type { LoaderView, Log } from '../author/context.ts'
import type { Params } from '../author/params.ts'
import { closest } from '../base/closest.ts'
import { deferred } from '../base/deferred.ts'
import { SaltError } from '../base/errors.ts'
import { type Catalog, openCatalog } from './catalog.ts'
import { type LoadedFunction, listFunctions, makeLoaded } from './functions.ts'
import { importFile } from './import-file.ts'
import { type Kind, type KindName, kinds } from './kinds.ts'
import { makeView, splitName } from './view.ts'
import { whyMissing } from './why.ts'

export interface LoaderSettings {
  readonly config: Readonly<Record<string, unknown>>
  readonly grains?: Readonly<Record<string, unknown>>
  readonly log: Log
  /** How long a file may take to load, milliseconds. */
  readonly timeoutMs?: number
}

/** Finds functions and plugins of one kind by name; a file is imported when something of it is asked for. */
export interface Loader {
  /** A function by its name `module.function`, or undefined; then {@link why} says why. */
  get(name: string): Promise<LoadedFunction | undefined>
  /**
   * The parameters a function declares, also one that is not offered here: its file is imported, nothing of it runs.
   * Rejects with SaltError MODULE_FAILED, within 2 s, if its file hangs, is broken or disabled.
   */
  params(name: string): Promise<Params | undefined>
  /** Salt's sentence for a missing function, with the reasons known. */
  why(name: string): Promise<string>
  /** A plugin by name. Throws SaltError MODULE_FAILED if its file is broken, FUNCTION_NOT_FOUND naming the known ones. */
  plugin<T>(name: string): Promise<T>
  pluginNames(): Promise<string[]>
  readonly view: LoaderView
  /** Read everything anew, helpers included. What runs finishes on the old code. */
  reload(): Promise<void>
}

/** Who is to show a call waits no longer for the parameters of its function. Milliseconds. */
const PARAMS_MS = 2_000

export function openLoader(kindName: KindName, settings: LoaderSettings): Loader {
  const { config, grains = {}, log, timeoutMs = 10_000 } = settings
  const kind = kinds.get(kindName) as Kind
  const catalog = openCatalog({ kind, facts: { grains, opts: config }, timeoutMs, log }, config)
  const functions = new Map<string, LoadedFunction>()

  const get = async (name: string): Promise<LoadedFunction | undefined> => {
    const known = functions.get(name)
    if (known) return known
    let found = await findFunction(catalog, name)
    if (!found && (await catalog.rescan())) {
      functions.clear()
      found = await findFunction(catalog, name)
    }
    if (found) functions.set(name, found)
    return found
  }
  const params = async (name: string): Promise<Params | undefined> => {
    const first = findParams(catalog, name)
    if ((await first.catch(() => undefined)) || !(await catalog.rescan())) return first
    functions.clear()
    return findParams(catalog, name)
  }
  const reload = async (): Promise<void> => {
    functions.clear()
    catalog.reload()
  }
  const of = (other: string) => {
    const found = kinds.get(other)
    return found && openLoader(found.name, settings).view
  }
  const view = makeView({ get, reload }, catalog, of)
  return {
    get,
    params: (name) => inTime(params(name), name, Math.min(timeoutMs, PARAMS_MS)),
    why: (name) => whyMissing(catalog, name),
    plugin: async <T>(name: string) => (await findPlugin(catalog, name, view)) as T,
    pluginNames: () => view.modules(),
    view,
    reload,
  }
}

/** The first file that serves the module's name and has the function. */
async function findFunction(catalog: Catalog, name: string): Promise<LoadedFunction | undefined> {
  const [module, own] = splitName(name)
  if (own === undefined || !catalog.allows(module)) return undefined
  for await (const file of catalog.candidates(module)) {
    if (file.excluded !== undefined) continue
    const { refusal, functions, namespace } = await catalog.load(file)
    const found = refusal ? undefined : functions.get(own)
    if (found) return makeLoaded(name, found, namespace.outputter)
  }
  return undefined
}

/** Of the first file that serves the module's name and has the function. Rejects if one that may have it is not read. */
async function findParams(catalog: Catalog, name: string): Promise<Params | undefined> {
  const [module, own] = splitName(name)
  if (own === undefined) return undefined
  let unread: string | undefined
  for await (const file of catalog.candidates(module)) {
    const namespace = file.excluded === undefined ? await importFile(file).catch(() => undefined) : undefined
    const found = namespace && listFunctions(namespace).get(own)
    if (found) return found.params
    if (!namespace) unread ??= `${file.path} ${file.excluded === undefined ? 'is broken' : 'is disabled'}`
  }
  if (unread !== undefined) throw unknowable(name, unread)
  return undefined
}

async function inTime<T>(work: Promise<T>, name: string, ms: number): Promise<T> {
  const late = deferred<never>()
  const timer = setTimeout(() => late.reject(unknowable(name, 'its file hangs while it is loaded')), ms)
  return Promise.race([work, late.promise]).finally(() => clearTimeout(timer))
}

const unknowable = (name: string, why: string) =>
  new SaltError('MODULE_FAILED', `The parameters of '${name}' cannot be known: ${why}.`, { name })

async function findPlugin(catalog: Catalog, name: string, view: LoaderView): Promise<unknown> {
  const reasons: string[] = []
  for await (const file of catalog.candidates(name)) {
    if (file.excluded !== undefined) continue
    const { refusal, namespace } = await catalog.load(file)
    if (!refusal) return namespace.default
    reasons.push(refusal.reason ?? `${file.path}: it says itself that it is not offered here`)
  }
  const kind = catalog.kind.name
  if (reasons.length > 0) {
    throw new SaltError('MODULE_FAILED', `'${name}' of the ${kind} cannot be used: ${reasons.join('; ')}`, {
      name,
      kind,
    })
  }
  const known = await view.modules()
  const meant = closest(name, known)
  const hint = meant === undefined ? '' : ` Did you mean '${meant}'?`
  const message = `There is no '${name}' among the ${kind}. Known are: ${known.join(', ')}.${hint}`
  throw new SaltError('FUNCTION_NOT_FOUND', message, { name, kind, known })
}
