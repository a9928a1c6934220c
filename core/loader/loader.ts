import type { LoaderView, Log } from '../author/context.ts'
import type { Params } from '../author/params.ts'
import { didYouMean } from '../base/closest.ts'
import { SaltError } from '../base/errors.ts'
import { isBelow } from '../base/files/open-inside.ts'
import { withTimeout } from '../base/with-timeout.ts'
import { component } from '../log/component.ts'
import { makeView } from './calls/view.ts'
import type { Finding } from './check/rules.ts'
import { type Description, describe } from './describe/describe.ts'
import { describeByText } from './describe/describe-text.ts'
import { type ExtensionFiles, openExtensionFiles } from './describe/extension-files.ts'
import { importFile, loadTsx } from './files/import-file.ts'
import { type SourceFile, usersStamp } from './files/index-files.ts'
import type { LoadSettings } from './files/load-file.ts'
import { type Override, overridesIn } from './files/overrides.ts'
import { type LoadedFunction, listFunctions, makeLoaded } from './functions.ts'
import { type Kind, type KindName, kinds } from './kinds.ts'
import { splitName } from './names.ts'
import { type LoaderQueries, loadFacts } from './offer/load-facts.ts'
import { whyMissing } from './offer/why.ts'

export interface LoaderSettings {
  readonly config: Readonly<Record<string, unknown>>
  /** Facts for files that are loaded, read when one is. */
  readonly grains?: Readonly<Record<string, unknown>>
  readonly pillar?: Readonly<Record<string, unknown>>
  readonly log: Log
  /** Longest time a file may take to load, in milliseconds. */
  readonly timeoutMs?: number
  /** Called with a sentence when a loaded file replaces a built-in one; by default that is logged as a warning. */
  readonly onOverride?: (sentence: string) => void
  readonly watch?: LoadSettings['watch']
  readonly blocked?: LoadSettings['blocked']
}

/** Finds functions and plugins of one kind by name; a file is imported when it is first needed. */
export interface Loader {
  /** Return a function by its name `module.function`; undefined if there is none, and {@link why} returns the reason. */
  get(name: string): Promise<LoadedFunction | undefined>
  /**
   * Return the parameters that a function declares, even if it is not offered here: its file is imported, but neither
   * `init` nor `virtual` is called. Rejects within 2 s with SaltError MODULE_FAILED if its file hangs, is broken or disabled.
   */
  params(name: string): Promise<Params | undefined>
  /** Return Salt's message for a missing function, with the known reasons. */
  why(name: string): Promise<string>
  /** Return a question to append to that message, ` Did you mean 'cmd.run'?`, or ''. It reads files, but imports none. */
  hint(name: string): Promise<string>
  /**
   * Return a plugin. Rejects with SaltError MODULE_FAILED if its file is broken, or FUNCTION_NOT_FOUND if there is
   * none.
   */
  plugin<T>(name: string): Promise<T>
  pluginNames(): Promise<string[]>
  /** Load every file below a directory. Resolves with a map path → reason of those that fail. */
  broken(folder: string): Promise<ReadonlyMap<string, string>>
  /** Load the files at these paths, and return what is wrong with them. */
  check(paths: readonly string[]): Promise<readonly Finding[]>
  /** Whether a built-in file provides a function. No user's file is read. */
  isBuiltIn(name: string): Promise<boolean>
  /** List the users' files that replace built-in ones. */
  overrides(): Promise<readonly Override[]>
  readonly view: LoaderView
  /**
   * List the functions, with their parameters. Users' files are imported for that; with `imports: false` only their text is
   * read.
   */
  describe(imports?: boolean): Promise<Description>
  /** Return text that changes when a user's file of this kind, or a helper beside it, is added, removed or changed. */
  stamp(): Promise<string>
  /** Reload all files, with their helpers. Running calls finish on the old code. */
  reload(): Promise<void>
  /** Prepare for the first call: load the TypeScript loader if a user's file needs it. */
  warmUp(): Promise<void>
}

/** Longest time that a file may take to load. */
export const LOAD_MS = 10_000

/** Longest time that showing a call waits for the parameters of its function. */
const PARAMS_MS = 2_000

export function openLoader(kindName: KindName, settings: LoaderSettings): Loader {
  const kind = kinds.get(kindName) as Kind
  const { config, timeoutMs = kind.loadMs ?? LOAD_MS, watch, blocked } = settings
  const log = component(settings.log, 'loader.lazy')
  const { onOverride = (sentence) => log.warn(sentence) } = settings
  /** The loader for files that are being loaded. */
  const whileLoading: LoaderQueries = {
    get: (name) => getMeanwhile(name),
    why: (name) => whyMissing(catalog, name),
    hint: async () => '',
    get view() {
      return view
    },
  }
  const catalog = openExtensionFiles(
    { kind, facts: loadFacts(settings, timeoutMs, whileLoading), timeoutMs, log, onOverride, watch, blocked },
    config,
  )
  const functions = new Map<string, LoadedFunction>()

  /** Scan the directories again; true if something changed. */
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
  /**
   * Get a function for a file that is being loaded. Refuses one of the same file, which would wait for itself forever.
   */
  const getMeanwhile = async (name: string): Promise<LoadedFunction | undefined> => {
    if (await catalog.isLoading(splitName(name)[0]))
      throw new SaltError(
        'INVOCATION',
        `'${name}' cannot be called while its own module is being loaded; move the call into a function.`,
      )
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
  const check: Loader['check'] = async (paths) => {
    const { checkFiles } = await import('./check/check-files.ts')
    return checkFiles(catalog, ({ path }) => paths.includes(path))
  }
  const view: LoaderView = makeView({ get, reload, rescan, check }, catalog, of)
  return {
    get,
    params: (name) =>
      withTimeout(params(name), Math.min(timeoutMs, PARAMS_MS), () => unknowable(name, HANGS)),
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
    check,
    isBuiltIn: (name) => catalog.isBuiltIn(splitName(name)[0]),
    overrides: async () => overridesIn(kind, { hidden: await catalog.hidden() }),
    view,
    describe: (imports = true) => (imports ? describe({ catalog, view, get }) : describeByText(catalog)),
    stamp: () => usersStamp([kindName], config),
    reload,
    warmUp,
  }
}

async function brokenFiles(catalog: ExtensionFiles, folder: string): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  for (const file of await catalog.files()) {
    if (file.excluded !== undefined || !isBelow(file.path, folder)) continue
    const { refusal } = await catalog.load(file)
    if (refusal?.by === 'failure') found.set(file.path, refusal.reason ?? 'it cannot be loaded')
  }
  return found
}

/** Find a function in the first file that serves the module's name and has the function. */
async function findFunction(catalog: ExtensionFiles, name: string): Promise<LoadedFunction | undefined> {
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

/** Return the log component of a file's functions, as in Salt: `loaded.int.module.test`, with `ext` for users' files. */
const componentOf = ({ name, builtIn }: SourceFile, kind: KindName): string =>
  `loaded.${builtIn ? 'int' : 'ext'}.${saltKinds.get(kind) ?? kind}.${name}`

/** Kinds that have another name in Salt. */
const saltKinds: ReadonlyMap<KindName, string> = new Map([
  ['modules', 'module'],
  ['returners', 'returner'],
  ['outputters', 'output'],
])

/**
 * Find the parameters in the first file that serves the module's name and has the function. Rejects if none has it, and
 * one could not be read.
 */
async function findParams(catalog: ExtensionFiles, name: string): Promise<Params | undefined> {
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

const HANGS = 'its file does not finish loading'

const unknowable = (name: string, why: string) =>
  new SaltError('MODULE_FAILED', `The parameters of '${name}' cannot be determined: ${why}.`, { name })

/** Find a plugin; undefined if no file serves the name. Rejects if files do, but none can be used. */
async function findPlugin(
  catalog: ExtensionFiles,
  name: string,
): Promise<{ readonly value: unknown } | undefined> {
  const reasons: string[] = []
  for await (const file of catalog.candidates(name)) {
    if (file.excluded !== undefined) continue
    const { refusal, namespace } = await catalog.load(file)
    if (!refusal) return { value: namespace.default }
    reasons.push(refusal.reason ?? `${file.path}: its virtual is false`)
  }
  if (reasons.length === 0) return undefined
  const kind = catalog.kind.name
  throw new SaltError('MODULE_FAILED', `'${name}' of the ${kind} cannot be used: ${reasons.join('; ')}`, {
    name,
    kind,
  })
}

async function noPlugin(catalog: ExtensionFiles, name: string, view: LoaderView): Promise<SaltError> {
  const kind = catalog.kind.name
  const known = await view.modules()
  const message = `There is no '${name}' in the ${kind}. Available: ${known.join(', ')}.${didYouMean(name, known)}`
  return new SaltError('FUNCTION_NOT_FOUND', message, { name, kind, known })
}
