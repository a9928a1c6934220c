import type { Log } from '../author/context.ts'
import type { Params } from '../author/params.ts'
import { texts } from './directories.ts'
import { type FileDocs, readDocs } from './docs.ts'
import { nextGeneration } from './import-file.ts'
import { indexFiles, type Listing, type SourceFile } from './index-files.ts'
import type { Kind } from './kinds.ts'
import { type LoadedFile, type LoadSettings, loadFile } from './load-file.ts'
import { docsIn, manifestEntry } from './manifest.ts'
import { splitName } from './names.ts'
import { readSource, type SourceFacts } from './read-source.ts'

export interface CatalogSettings extends Omit<LoadSettings, 'hasFunction'> {
  readonly log: Log
}

/** The files of a kind and what is known of each: first by its text, once it is loaded by itself. */
export interface Catalog {
  readonly kind: Kind
  /** In order of precedence; those the config excludes among them. */
  files(): Promise<readonly SourceFile[]>
  /** Files that others hide. */
  hidden(): Promise<Listing['hidden']>
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
  /** Files that serve a name: the one the config chose for it, the one called so, then others, in order. */
  candidates(name: string): AsyncIterable<SourceFile>
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
  const rank = (file: SourceFile, name: string) =>
    provided(file).includes(name) ? 0 : file.name === name ? 1 : 2
  const allows = (name: string) => whitelist.length === 0 || whitelist.includes(name)
  const list = () => indexFiles(kind, config)
  const all = () => (listing ??= list())
  const files = async () => (await all()).files
  const hidden = async () => (await all()).hidden
  const factsOf = (file: SourceFile) =>
    remember(facts, file, async () => manifestEntry(kind, file) ?? readSource(file.path, file.name))
  const docs = (file: SourceFile) =>
    remember(written, file, async () => {
      const entry = manifestEntry(kind, file)
      return entry ? docsIn(entry) : readDocs(file.path)
    })
  const params = (file: SourceFile) => manifestEntry(kind, file)?.params
  const load = (file: SourceFile) =>
    remember(loaded, file, async () => {
      loading.add(file)
      const found = await loadAndLog(file, { ...settings, hasFunction }, () => loaded.delete(file))
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
    names,
    functions,
    offered,
    load,
    docs,
    params,
    allows,
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
  settings: CatalogSettings & LoadSettings,
  forget: () => void,
): Promise<LoadedFile> {
  const result = await loadFile(file, settings)
  result.late?.then(forget, forget)
  if (result.refusal?.by === 'failure')
    settings.log.error(`Failed to load ${settings.kind.name}: ${result.refusal.reason}`)
  else if (result.refusal)
    settings.log.debug(`${file.path} is not offered: ${result.refusal.reason ?? 'virtual is false'}`)
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
