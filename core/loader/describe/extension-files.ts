import type { Log } from '../../author/context.ts'
import { isRecord } from '../../base/record.ts'
import { stringsIn } from '../files/directories.ts'
import { nextGeneration } from '../files/import-file.ts'
import { indexFiles, type Listing, type SourceFile } from '../files/index-files.ts'
import { type LoadedFile, type LoadSettings, loadFile } from '../files/load-file.ts'
import { descriptionOf, docsIn, type FileDescription, factsAbout } from '../files/manifest.ts'
import { overrideSentence } from '../files/overrides.ts'
import { pythonFiles } from '../files/python-files.ts'
import type { Kind } from '../kinds.ts'
import { splitName } from '../names.ts'
import type { FileLoadFacts } from '../offer/virtual.ts'
import { type FileDocs, readDocs } from './docs.ts'
import type { SourceFacts } from './read-source.ts'

export interface ExtensionFilesSettings extends Omit<LoadSettings, 'facts'> {
  /** The facts that loaded files receive, except `has`. */
  readonly facts: Omit<FileLoadFacts, 'has'>
  readonly log: Log
  /** Called with a sentence when a loaded user's file replaces a built-in one. */
  onOverride(sentence: string): void
}

/** The files of a kind and the facts about each: first from its text, and from its exports once it is loaded. */
export interface ExtensionFiles {
  readonly kind: Kind
  /** List the files in order of precedence, including those that the configuration excludes. */
  files(): Promise<readonly SourceFile[]>
  /** List the files that others hide. */
  hidden(): Promise<Listing['hidden']>
  /** List a clause about each folder that is there and cannot be read. */
  unreadable(): Promise<readonly string[]>
  /** List the paths of Python files with a name. */
  python(name: string): Promise<readonly string[]>
  /** List the names that users have for a file. */
  names(file: SourceFile): Promise<readonly string[]>
  /** List the functions of a file; none if it is not offered. It is loaded only if its text does not show them. */
  functions(file: SourceFile): Promise<readonly string[]>
  /** Whether a file is offered: it does not refuse, and has not failed to load. */
  offered(file: SourceFile): Promise<boolean>
  load(file: SourceFile): Promise<LoadedFile>
  docs(file: SourceFile): Promise<FileDocs>
  /** Return the parameters of its functions; undefined if only importing shows them. */
  params(file: SourceFile): FileDescription['params'] | undefined
  /** Return the results that its functions declare; undefined if only importing shows them. */
  returns(file: SourceFile): FileDescription['returns'] | undefined
  /** Whether a name is in `whitelist_modules`, or that is not set. */
  allows(name: string): boolean
  /**
   * Yield the files that serve a name, in Salt's order: those that the configuration selects for it, the one with that
   * name, those whose names contain it (`aptpkg` for `pkg`), then others.
   */
  candidates(name: string): AsyncIterable<SourceFile>
  /** Whether a file that is being loaded serves a name, as far as its text shows. */
  isLoading(name: string): Promise<boolean>
  /** Whether the built-in file of a name provides it. No file is read. */
  isBuiltIn(name: string): Promise<boolean>
  /** Return the rank of a file for a name; the lowest comes first. */
  rank(file: SourceFile, name: string): number
  /** Scan the directories again. True if files were added, removed or changed. */
  rescan(): Promise<boolean>
  /** Forget everything that was loaded. */
  reload(): void
}

/** Clauses about folders that this process has warned of: loaders of all kinds search the same ones. */
const warned = new Set<string>()

function warnOnce(log: Log, clause: string): void {
  if (warned.has(clause)) return
  warned.add(clause)
  log.warn(`Extensions may be missing: ${clause}.`)
}

export function openExtensionFiles(
  settings: ExtensionFilesSettings,
  config: Readonly<Record<string, unknown>>,
): ExtensionFiles {
  const { kind } = settings
  let listing: Promise<Listing> | undefined
  const facts = new Map<SourceFile, Promise<SourceFacts>>()
  const written = new Map<SourceFile, Promise<FileDocs>>()
  const loaded = new Map<SourceFile, Promise<LoadedFile>>()
  const loading = new Set<SourceFile>()
  /** Names of the files whose text shows them. */
  const named = new Map<SourceFile, readonly string[]>()
  /** The files in the order in which they are asked for a name. */
  const ordered = new Map<string, Promise<readonly SourceFile[]>>()

  const whitelist = kind.whitelistKey === undefined ? [] : stringsIn(config[kind.whitelistKey])
  const providers = Object.entries(isRecord(config.providers) ? config.providers : {})
  /** Virtual names that the configuration assigns to a file (`providers`), whatever it declares itself. */
  const provided = (file: SourceFile) =>
    kind.name === 'modules'
      ? providers.filter(([, name]) => name === file.name).map(([virtual]) => virtual)
      : []
  const rank = (file: SourceFile, name: string) => {
    if (provided(file).includes(name)) return 0
    if (file.name === name) return 1
    return file.name.includes(name) ? 2 : 3
  }
  const allows = (name: string) => whitelist.length === 0 || whitelist.includes(name)
  const list = async () => {
    const found = await indexFiles(kind, config)
    for (const clause of found.unreadable) warnOnce(settings.log, clause)
    return found
  }
  const all = () => (listing ??= list())
  const files = async () => (await all()).files
  const hidden = async () => (await all()).hidden
  const unreadable = async () => (await all()).unreadable
  const factsOf = (file: SourceFile) => remember(facts, file, () => factsAbout(kind, file))
  const docs = (file: SourceFile) =>
    remember(written, file, async () => {
      const description = descriptionOf(kind, file)
      return description ? docsIn(description) : readDocs(file.path)
    })
  const params = (file: SourceFile) => descriptionOf(kind, file)?.params
  const returns = (file: SourceFile) => descriptionOf(kind, file)?.returns
  const load = (file: SourceFile) =>
    remember(loaded, file, async () => {
      loading.add(file)
      const found = await loadAndLog(file, { ...settings, facts: fileFacts }, () => loaded.delete(file))
      const instead = (await all()).hidden.filter(({ by, builtIn }) => by === file && builtIn)
      for (const hidden of instead) settings.onOverride(await overrideSentence(kind, hidden))
      loading.delete(file)
      return asProvider(found, provided(file))
    })
  const names = async (file: SourceFile): Promise<readonly string[]> => {
    const { names: known, gated } = await factsOf(file)
    if (file.excluded !== undefined) return known ?? [file.name]
    const configured = provided(file)
    if (known === undefined || (gated && configured.length > 0)) return (await load(file)).names
    const own = [...new Set([...known, ...configured])]
    named.set(file, own)
    return own
  }

  const offered = async (file: SourceFile): Promise<boolean> => {
    if (file.excluded !== undefined) return false
    const { gated, names: known } = await factsOf(file)
    const mustLoad = gated || known === undefined || loaded.has(file)
    return !mustLoad || (await load(file)).refusal === undefined
  }

  const functions = async (file: SourceFile): Promise<readonly string[]> => {
    if (kind.shape !== 'functions' || !(await offered(file))) return []
    const known = (await factsOf(file)).functions
    if (known !== undefined && !loaded.has(file)) return known
    const { refusal, functions: own } = await load(file)
    return refusal ? [] : [...own.keys()]
  }

  const isLoading = async (name: string): Promise<boolean> => {
    for (const file of loading) if (((await factsOf(file)).names ?? [file.name]).includes(name)) return true
    return false
  }

  const isBuiltIn = async (name: string): Promise<boolean> => {
    const own = (await files()).find((file) => rank(file, name) <= 1)
    const chosen = (await files()).some((file) => rank(file, name) === 0)
    return !chosen && own?.builtIn === true && own.excluded === undefined && allows(name)
  }

  const inOrder = (name: string) =>
    remember(ordered, name, async () => (await files()).toSorted((a, b) => rank(a, name) - rank(b, name)))

  async function* candidates(name: string): AsyncGenerator<SourceFile> {
    for (const file of await inOrder(name))
      if ((named.get(file) ?? (await names(file))).includes(name)) yield file
  }

  /**
   * Whether a function is offered. For files that are being loaded their text decides, since they may depend on each
   * other.
   */
  const hasFunction = async (name: string): Promise<boolean> => {
    const [module, own = ''] = splitName(name)
    if (!allows(module)) return false
    for (const file of await files()) {
      const byText = loading.has(file) ? await factsOf(file) : undefined
      const served = byText ? (byText.names ?? [file.name]) : await names(file)
      if (!served.includes(module)) continue
      if ((byText ? (byText.functions ?? []) : await functions(file)).includes(own)) return true
    }
    return false
  }

  const fileFacts: FileLoadFacts = Object.defineProperties({} as FileLoadFacts, {
    ...Object.getOwnPropertyDescriptors(settings.facts),
    has: { value: hasFunction, enumerable: true },
  })

  const rescan = async (): Promise<boolean> => {
    const before = await files()
    const known = new Map(before.map((file) => [`${file.path}\0${file.stamp}`, file]))
    const fresh = await list()
    const now = fresh.files.map((file) => known.get(`${file.path}\0${file.stamp}`) ?? file)
    if (now.length === before.length && now.every((file, index) => file === before[index])) return false
    const gone = before.filter((file) => !now.includes(file))
    for (const file of gone) for (const map of [facts, written, loaded, named]) map.delete(file)
    ordered.clear()
    if (gone.length > 0) nextGeneration()
    listing = Promise.resolve({ ...fresh, files: now })
    return true
  }

  const reload = (): void => {
    nextGeneration()
    listing = undefined
    for (const map of [facts, written, loaded, named, ordered]) map.clear()
  }

  return {
    kind,
    files,
    hidden,
    unreadable,
    python: (name) => pythonFiles(kind, config, name),
    names,
    functions,
    offered,
    load,
    docs,
    params,
    returns,
    allows,
    isBuiltIn,
    isLoading,
    candidates,
    rank,
    rescan,
    reload,
  }
}

/** Add the names that the configuration assigns to a file; for these its own `virtual` does not count. */
function asProvider(found: LoadedFile, configured: readonly string[]): LoadedFile {
  if (configured.length === 0 || found.refusal?.by === 'failure') return found
  const { refusal, ...offered } = found
  return { ...offered, names: refusal ? configured : [...new Set([...found.names, ...configured])] }
}

/**
 * Load a file, and log the result. A file that loads after its time limit is forgotten, so that the next call loads it
 * again.
 */
async function loadAndLog(
  file: SourceFile,
  settings: Pick<ExtensionFilesSettings, 'log'> & LoadSettings,
  forget: () => void,
): Promise<LoadedFile> {
  const result = await loadFile(file, settings)
  result.late?.then(forget, forget)
  if (result.refusal?.by === 'failure')
    settings.log.error(`Failed to load ${settings.kind.name}: ${result.refusal.reason}`)
  else if (result.refusal)
    settings.log.debug(`${file.path} is not offered: ${result.refusal.reason ?? 'virtual is false'}`)
  else if (settings.kind.shape === 'plugin')
    settings.log.debug(`LazyLoaded ${file.name}.${settings.kind.members?.[0]}`)
  return result
}

function remember<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}
