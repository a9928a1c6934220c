import type { LoaderView, Log } from '../author/context.ts'
import type { Params } from '../author/params.ts'
import { didYouMean } from '../base/closest.ts'
import { SaltError } from '../base/errors.ts'
import { inTime } from '../base/in-time.ts'
import { isBelow } from '../base/open-inside.ts'
import { component } from '../log/component.ts'
import { type Catalog, openCatalog } from './catalog.ts'
import { type Description, describe } from './describe.ts'
import { describeByText } from './describe-text.ts'
import { type LoadedFunction, listFunctions, makeLoaded } from './functions.ts'
import { importFile, loadTsx } from './import-file.ts'
import { type SourceFile, usersStamp } from './index-files.ts'
import { type Kind, type KindName, kinds } from './kinds.ts'
import { type Asked, loadFacts } from './load-facts.ts'
import type { LoadSettings } from './load-file.ts'
import { splitName } from './names.ts'
import { type Override, overridesIn } from './overrides.ts'
import { makeView } from './view.ts'
import { whyMissing } from './why.ts'

export interface LoaderSettings {
  readonly config: Readonly<Record<string, unknown>>
  /** Facts for files that are loaded, read when one is. */
  readonly grains?: Readonly<Record<string, unknown>>
  readonly pillar?: Readonly<Record<string, unknown>>
  readonly log: Log
  /** How long a file may take to load, milliseconds. */
  readonly timeoutMs?: number
  /** Is told that a file that is loaded stands in the place of a built-in one; else that is a warning in the log. */
  readonly onOverride?: (sentence: string) => void
  readonly watch?: LoadSettings['watch']
  readonly blocked?: LoadSettings['blocked']
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
  /** A question to follow that sentence, ` Did you mean 'cmd.run'?`, or nothing: by the text of files, none is imported. */
  hint(name: string): Promise<string>
  /** A plugin by name. Throws SaltError MODULE_FAILED if its file is broken, FUNCTION_NOT_FOUND naming the known ones. */
  plugin<T>(name: string): Promise<T>
  pluginNames(): Promise<string[]>
  /** Load every file below a folder: path → reason, of those that cannot be loaded. */
  broken(folder: string): Promise<ReadonlyMap<string, string>>
  /** True if a function is answered by a built-in file; no file of a user is read for that. */
  isBuiltIn(name: string): Promise<boolean>
  /** What stands in the place of built-in files. */
  overrides(): Promise<readonly Override[]>
  readonly view: LoaderView
  /**
   * List what is offered, with the parameters of each function. Users' files are imported for that; with `imports: false`
   * only their text is read.
   */
  describe(imports?: boolean): Promise<Description>
  /** Text that changes when a file of users that is looked at, or a helper beside it, comes, goes or changes. */
  stamp(): Promise<string>
  /** Read everything anew, helpers included. What runs finishes on the old code. */
  reload(): Promise<void>
  /** Get ready what takes long and the first call would wait for: the TypeScript loader, if a user's file needs it. */
  warmUp(): Promise<void>
}

/** A file may take so long to load. Milliseconds. */
export const LOAD_MS = 10_000

/** Who is to show a call waits no longer for the parameters of its function. Milliseconds. */
const PARAMS_MS = 2_000

export function openLoader(kindName: KindName, settings: LoaderSettings): Loader {
  const kind = kinds.get(kindName) as Kind
  const { config, timeoutMs = kind.loadMs ?? LOAD_MS, watch, blocked } = settings
  const log = component(settings.log, 'loader.lazy')
  const { onOverride = (sentence) => log.warn(sentence) } = settings
  /** By files that are being loaded. */
  const asked: Asked = {
    get: (name) => getMeanwhile(name),
    why: (name) => whyMissing(catalog, name),
    hint: async () => '',
    get view() {
      return view
    },
  }
  const catalog = openCatalog(
    { kind, facts: loadFacts(settings, asked), timeoutMs, log, onOverride, watch, blocked },
    config,
  )
  const functions = new Map<string, LoadedFunction>()

  /** Look at the folders again; true if something changed. */
  const rescan = async (): Promise<boolean> => {
    const changed = await catalog.rescan()
    if (changed) functions.clear()
    return changed
  }
  const get = async (name: string): Promise<LoadedFunction | undefined> => {
    const known = functions.get(name)
    if (known) return known
    let found = await findFunction(catalog, name)
    if (!found && (await rescan())) found = await findFunction(catalog, name)
    if (found) {
      functions.set(name, found)
      log.debug('LazyLoaded {fun}', { fun: name })
    } else log.debug('Could not LazyLoad {fun}: it is not available.', { fun: name })
    return found
  }
  /** For a file that is being loaded: one that waited for itself would wait for ever. */
  const getMeanwhile = async (name: string): Promise<LoadedFunction | undefined> => {
    if (await catalog.isLoading(splitName(name)[0]))
      throw new SaltError('INVOCATION', `'${name}' cannot be called while its own module is being loaded.`)
    return get(name)
  }
  const params = async (name: string): Promise<Params | undefined> => {
    const first = findParams(catalog, name)
    if ((await first.catch(() => undefined)) || !(await rescan())) return first
    return findParams(catalog, name)
  }
  const reload = async (): Promise<void> => {
    functions.clear()
    views.clear()
    catalog.reload()
  }
  const views = new Map<string, LoaderView>()
  const of = (other: string): LoaderView | undefined => {
    const found = kinds.get(other)
    if (!found) return undefined
    const opened = other === kindName ? view : (views.get(other) ?? openLoader(found.name, settings).view)
    views.set(other, opened)
    return opened
  }
  const warmUp = async (): Promise<void> => {
    const typed = (await catalog.files()).some((file) => !file.builtIn && /ts$/.test(file.path))
    if (typed) await loadTsx()
  }
  const view: LoaderView = makeView({ get, reload, rescan }, catalog, of)
  return {
    get,
    params: (name) => inTime(params(name), Math.min(timeoutMs, PARAMS_MS), () => unknowable(name, HANGS)),
    why: (name) => whyMissing(catalog, name),
    hint: async (name) => didYouMean(name, Object.keys((await describeByText(catalog)).functions)),
    plugin: async <T>(name: string) => {
      const found = await findPlugin(catalog, name)
      const plugin = found ?? ((await rescan()) ? await findPlugin(catalog, name) : undefined)
      if (!plugin) throw await noPlugin(catalog, name, view)
      return plugin.value as T
    },
    pluginNames: () => view.modules(),
    broken: (folder) => brokenFiles(catalog, folder),
    isBuiltIn: (name) => catalog.isBuiltIn(splitName(name)[0]),
    overrides: async () =>
      overridesIn(kind, { files: await catalog.files(), hidden: await catalog.hidden() }),
    view,
    describe: (imports = true) => (imports ? describe({ catalog, view, get }) : describeByText(catalog)),
    stamp: () => usersStamp([kindName], config),
    reload,
    warmUp,
  }
}

async function brokenFiles(catalog: Catalog, folder: string): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  for (const file of await catalog.files()) {
    if (file.excluded !== undefined || !isBelow(file.path, folder)) continue
    const { refusal } = await catalog.load(file)
    if (refusal?.by === 'failure') found.set(file.path, refusal.reason ?? 'it cannot be loaded')
  }
  return found
}

/** The first file that serves the module's name and has the function. */
async function findFunction(catalog: Catalog, name: string): Promise<LoadedFunction | undefined> {
  const [module, own] = splitName(name)
  if (own === undefined || !catalog.allows(module)) return undefined
  for await (const file of catalog.candidates(module)) {
    if (file.excluded !== undefined) continue
    const { refusal, functions, namespace } = await catalog.load(file)
    const found = refusal ? undefined : functions.get(own)
    if (found) return makeLoaded(name, found, namespace.outputter, componentOf(file, catalog.kind.name))
  }
  return undefined
}

/** The component that functions of a file log under, as in Salt: `loaded.int.module.test`, `ext` for files of users. */
const componentOf = ({ name, builtIn }: SourceFile, kind: KindName): string =>
  `loaded.${builtIn ? 'int' : 'ext'}.${saltKinds.get(kind) ?? kind}.${name}`

/** Kinds that have another name in Salt. */
const saltKinds: ReadonlyMap<KindName, string> = new Map([
  ['modules', 'module'],
  ['returners', 'returner'],
  ['outputters', 'output'],
])

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

const HANGS = 'its file hangs while it is loaded'

const unknowable = (name: string, why: string) =>
  new SaltError('MODULE_FAILED', `The parameters of '${name}' cannot be known: ${why}.`, { name })

/** Undefined if no file serves the name. Rejects if one does that cannot be used. */
async function findPlugin(catalog: Catalog, name: string): Promise<{ readonly value: unknown } | undefined> {
  const reasons: string[] = []
  for await (const file of catalog.candidates(name)) {
    if (file.excluded !== undefined) continue
    const { refusal, namespace } = await catalog.load(file)
    if (!refusal) return { value: namespace.default }
    reasons.push(refusal.reason ?? `${file.path}: it says itself that it is not offered here`)
  }
  if (reasons.length === 0) return undefined
  const kind = catalog.kind.name
  throw new SaltError('MODULE_FAILED', `'${name}' of the ${kind} cannot be used: ${reasons.join('; ')}`, {
    name,
    kind,
  })
}

async function noPlugin(catalog: Catalog, name: string, view: LoaderView): Promise<SaltError> {
  const kind = catalog.kind.name
  const known = await view.modules()
  const message = `There is no '${name}' among the ${kind}. Known are: ${known.join(', ')}.${didYouMean(name, known)}`
  return new SaltError('FUNCTION_NOT_FOUND', message, { name, kind, known })
}
