import type { Log } from '../author/context.ts'
import type { Params } from '../author/params.ts'
import { texts } from './directories.ts'
import { type FileDocs, readDocs } from './docs.ts'
import { nextGeneration } from './import-file.ts'
import { indexFiles, type Listing, type SourceFile } from './index-files.ts'
import type { Kind } from './kinds.ts'
import { type LoadedFile, type LoadSettings, loadFile } from './load-file.ts'
import { docsIn, factsAbout, manifestEntry } from './manifest.ts'
import { splitName } from './names.ts'
import { overrideSentence } from './overrides.ts'
import { pythonFiles } from './python-files.ts'
import type { SourceFacts } from './read-source.ts'
import type { Facts } from './virtual.ts'

export interface CatalogSettings extends Omit<LoadSettings, 'facts'> {
  /** The facts that loaded files get, besides the functions they may ask about. */
  readonly facts: Omit<Facts, 'has'>
  readonly log: Log
  /** Is told, as a file of a user is loaded, that it stands in the place of a built-in one. */
  onOverride(sentence: string): void
}

/** The files of a kind and what is known of each: first by its text, once it is loaded by itself. */
export interface Catalog {
  readonly kind: Kind
  /** In order of precedence; those the config excludes among them. */
  files(): Promise<readonly SourceFile[]>
  /** Files that others hide. */
  hidden(): Promise<Listing['hidden']>
  /** Paths of files that would serve a name, were they not written in Python. */
  python(name: string): Promise<readonly string[]>
  /** Names users know a file by. */
  names(file: SourceFile): Promise<readonly string[]>
  /** Functions of a file; empty if it is not offered. It is loaded only if it must say itself. */
  functions(file: SourceFile): Promise<readonly string[]>
  /** False if the file says it is not offered, or is known to be broken. */
  offered(file: SourceFile): Promise<boolean>
  load(file: SourceFile): Promise<LoadedFile>
  docs(file: SourceFile): Promise<FileDocs>
  /** Parameters of its functions; undefined if only importing tells. */
  params(file: SourceFile): Readonly<Record<string, Params>> | undefined
  /** False for a name that is not in `whitelist_modules`, if that is set. */
  allows(name: string): boolean
  /**
   * Files that serve a name, as Salt asks them: those the config chose for it, the one called so, those whose name has
   * it in it (`aptpkg` for `pkg`), then others.
   */
  candidates(name: string): AsyncIterable<SourceFile>
  /** Does a file that is being loaded serve a name, as far as its text tells? */
  isLoading(name: string): Promise<boolean>
  /** False unless the built-in file of a name answers for it. No file is read. */
  isBuiltIn(name: string): Promise<boolean>
  /** Of files that serve a name that with the lowest is asked first. */
  rank(file: SourceFile, name: string): number
  /** Look at the folders again. True if files came, went or changed. */
  rescan(): Promise<boolean>
  /** Forget everything that was loaded from users' files. */
  reload(): void
}

export function openCatalog(settings: CatalogSettings, config: Readonly<Record<string, unknown>>): Catalog {
  const { kind } = settings
  let listing: Promise<Listing> | undefined
  const facts = new Map<SourceFile, Promise<SourceFacts>>()
  const written = new Map<SourceFile, Promise<FileDocs>>()
  const loaded = new Map<SourceFile, Promise<LoadedFile>>()
  const loading = new Set<SourceFile>()

  const whitelist = kind.whitelistKey === undefined ? [] : texts(config[kind.whitelistKey])
  const providers = Object.entries(isRecord(config.providers) ? config.providers : {})
  /** Virtual names the config gives to a file, whatever it says itself (`providers`). */
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
  const list = () => indexFiles(kind, config)
  const all = () => (listing ??= list())
  const files = async () => (await all()).files
  const hidden = async () => (await all()).hidden
  const factsOf = (file: SourceFile) => remember(facts, file, () => factsAbout(kind, file))
  const docs = (file: SourceFile) =>
    remember(written, file, async () => {
      const entry = manifestEntry(kind, file)
      return entry ? docsIn(entry) : readDocs(file.path)
    })
  const params = (file: SourceFile) => manifestEntry(kind, file)?.params
  const load = (file: SourceFile) =>
    remember(loaded, file, async () => {
      loading.add(file)
      const found = await loadAndLog(file, { ...settings, facts: told }, () => loaded.delete(file))
      const instead = (await all()).hidden.filter(({ by, builtIn }) => by === file && builtIn)
      for (const hidden of instead) settings.onOverride(await overrideSentence(kind, hidden))
      loading.delete(file)
      return asProvider(found, provided(file))
    })
  const names = async (file: SourceFile): Promise<readonly string[]> => {
    const { names: known, gated } = await factsOf(file)
    if (file.excluded !== undefined) return known ?? [file.name]
    const asked = provided(file)
    if (known === undefined || (gated && asked.length > 0)) return (await load(file)).names
    return [...new Set([...known, ...asked])]
  }

  const offered = async (file: SourceFile): Promise<boolean> => {
    if (file.excluded !== undefined) return false
    const { gated, names: known } = await factsOf(file)
    const mustAsk = gated || known === undefined || loaded.has(file)
    return !mustAsk || (await load(file)).refusal === undefined
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

  async function* candidates(name: string): AsyncGenerator<SourceFile> {
    const ranked = (await files()).toSorted((a, b) => rank(a, name) - rank(b, name))
    for (const file of ranked) if ((await names(file)).includes(name)) yield file
  }

  /** A file that is being loaded, and may ask for itself by way of others, is taken by its text. */
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

  const told: Facts = Object.defineProperties({} as Facts, {
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
    for (const file of gone) for (const map of [facts, written, loaded]) map.delete(file)
    if (gone.length > 0) nextGeneration()
    listing = Promise.resolve({ files: now, hidden: fresh.hidden })
    return true
  }

  const reload = (): void => {
    nextGeneration()
    listing = undefined
    facts.clear()
    written.clear()
    loaded.clear()
  }

  return {
    kind,
    files,
    hidden,
    python: (name) => pythonFiles(kind, config, name),
    names,
    functions,
    offered,
    load,
    docs,
    params,
    allows,
    isBuiltIn,
    isLoading,
    candidates,
    rank,
    rescan,
    reload,
  }
}

/** What its own `virtual` says does not count for the names the config gives it. */
function asProvider(found: LoadedFile, asked: readonly string[]): LoadedFile {
  if (asked.length === 0 || found.refusal?.by === 'failure') return found
  const { refusal, ...offered } = found
  return { ...offered, names: refusal ? asked : [...new Set([...found.names, ...asked])] }
}

/** A file that was given up and loads after all is forgotten, so that the next call asks it again. */
async function loadAndLog(
  file: SourceFile,
  settings: Pick<CatalogSettings, 'log'> & LoadSettings,
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

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null
