import type { Log } from '../author/context.ts'
import { texts } from './directories.ts'
import { type FileDocs, readDocs } from './docs.ts'
import { nextGeneration } from './import-file.ts'
import { indexFiles, type SourceFile } from './index-files.ts'
import type { Kind } from './kinds.ts'
import { type LoadedFile, type LoadSettings, loadFile } from './load-file.ts'
import { readSource, type SourceFacts } from './read-source.ts'

export interface CatalogSettings extends LoadSettings {
  readonly log: Log
}

/** The files of a kind and what is known of each: first by its text, once it is loaded by itself. */
export interface Catalog {
  readonly kind: Kind
  /** In order of precedence; those the config excludes among them. */
  files(): Promise<readonly SourceFile[]>
  /** Names users know a file by. */
  names(file: SourceFile): Promise<readonly string[]>
  /** Functions of a file; empty if it is not offered. It is loaded only if it must say itself. */
  functions(file: SourceFile): Promise<readonly string[]>
  /** False if the file says it is not offered, or is known to be broken. */
  offered(file: SourceFile): Promise<boolean>
  load(file: SourceFile): Promise<LoadedFile>
  docs(file: SourceFile): Promise<FileDocs>
  /** False for a name that is not in `whitelist_modules`, if that is set. */
  allows(name: string): boolean
  /** Files that serve a name: the one called so, then others, in order. */
  candidates(name: string): AsyncIterable<SourceFile>
  /** Look at the folders again. True if files came, went or changed. */
  rescan(): Promise<boolean>
  /** Forget everything that was loaded from users' files. */
  reload(): void
}

export function openCatalog(settings: CatalogSettings, config: Readonly<Record<string, unknown>>): Catalog {
  const { kind } = settings
  let listing: Promise<readonly SourceFile[]> | undefined
  const facts = new Map<SourceFile, Promise<SourceFacts>>()
  const written = new Map<SourceFile, Promise<FileDocs>>()
  const loaded = new Map<SourceFile, Promise<LoadedFile>>()

  const whitelist = kind.whitelistKey === undefined ? [] : texts(config[kind.whitelistKey])
  const allows = (name: string) => whitelist.length === 0 || whitelist.includes(name)
  const list = () => indexFiles(kind, config)
  const files = () => (listing ??= list())
  const factsOf = (file: SourceFile) => remember(facts, file, () => readSource(file.path, file.name))
  const docs = (file: SourceFile) => remember(written, file, () => readDocs(file.path))
  const load = (file: SourceFile) =>
    remember(loaded, file, () => loadAndLog(file, settings, () => loaded.delete(file)))
  const names = async (file: SourceFile): Promise<readonly string[]> => {
    const written = (await factsOf(file)).names
    if (written !== undefined) return written
    return file.excluded === undefined ? (await load(file)).names : [file.name]
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
    const all = await files()
    const own = all.find((file) => file.name === name)
    for (const file of own ? [own, ...all.filter((other) => other !== own)] : all) {
      if ((await names(file)).includes(name)) yield file
    }
  }

  const rescan = async (): Promise<boolean> => {
    const before = await files()
    const known = new Map(before.map((file) => [`${file.path}\0${file.stamp}`, file]))
    const now = (await list()).map((file) => known.get(`${file.path}\0${file.stamp}`) ?? file)
    if (now.length === before.length && now.every((file, index) => file === before[index])) return false
    const gone = before.filter((file) => !now.includes(file))
    for (const file of gone) for (const map of [facts, written, loaded]) map.delete(file)
    if (gone.length > 0) nextGeneration()
    listing = Promise.resolve(now)
    return true
  }

  const reload = (): void => {
    nextGeneration()
    listing = undefined
    facts.clear()
    written.clear()
    loaded.clear()
  }

  return { kind, files, names, functions, offered, load, docs, allows, candidates, rescan, reload }
}

/** A file that was given up and loads after all is forgotten, so that the next call asks it again. */
async function loadAndLog(
  file: SourceFile,
  settings: CatalogSettings,
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
