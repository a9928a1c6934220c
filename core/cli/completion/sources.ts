/**
 * What is known on this host of minions, functions and jobs: read from files and stores, never asked of anybody.
 * Stores are imported where they are needed: that alone takes as long as all the rest.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isMinionId } from '../../base/minion-id.ts'
import { loadMasterConfig, type MasterConfig } from '../../config/index.ts'
import { jobCacheDirectory, minionDataDirectory } from '../../jobs/paths.ts'
import { codeRoot } from '../../loader/own-package.ts'
import type { Candidate } from './complete.ts'

/** Folders of keys, by their state. */
export type KeySection = 'minions' | 'minions_pre' | 'minions_rejected' | 'minions_denied'

export interface Sources {
  keys(sections: readonly KeySection[]): string[]
  grainKeys(): Promise<string[]>
  grainValues(key: string): Promise<string[]>
  nodegroups(): string[]
  /** Of minions; of this host; of the master. */
  functions(): Promise<string[]>
  params(fun: string): Promise<string[]>
  localFunctions(): string[]
  localParams(fun: string): string[]
  runners(): string[]
  runnerParams(fun: string): string[]
  outputters(): string[]
  /** The newest first. */
  jobs(): Promise<Candidate[]>
}

/** So many jobs are offered. */
const MOST_JOBS = 20

export interface SourcesSettings {
  readonly configDir: string | undefined
  /** True once there is no time left to read more. */
  late(): boolean
}

type Parameters = Readonly<Record<string, { readonly kind: string }>>
type Functions = Readonly<Record<string, Parameters | null>>

export function openSources({ configDir, late }: SourcesSettings): Sources {
  let loaded: MasterConfig | undefined
  const config = () => {
    loaded ??= loadMasterConfig(configDir === undefined ? {} : { configDir }).config
    return loaded
  }
  const modules = () => builtIn('modules')
  const offered = async () => (await offeredFunctions(config(), late)) ?? modules()

  return {
    keys: (sections) => [...new Set(sections.flatMap((section) => idsIn(config(), section)))].sort(),
    grainKeys: async () =>
      sorted((await someGrains(config(), late)).flatMap((grains) => Object.keys(grains))),
    grainValues: async (key) =>
      sorted((await someGrains(config(), late)).flatMap((grains) => scalars(grains[key]))),
    nodegroups: () => sorted(Object.keys(config().nodegroups)),
    functions: async () => Object.keys(await offered()).sort(),
    params: async (fun) => named((await offered())[fun]),
    localFunctions: () => Object.keys(modules()).sort(),
    localParams: (fun) => named(modules()[fun]),
    runners: () => Object.keys(builtIn('runners')).sort(),
    runnerParams: (fun) => named(builtIn('runners')[fun]),
    outputters: () => Object.keys(manifest('plugins/outputters')).sort(),
    jobs: () => newestJobs(config()),
  }
}

const sorted = (names: readonly string[]): string[] => [...new Set(names)].sort()

const named = (params: Parameters | null | undefined): string[] =>
  Object.entries(params ?? {})
    .filter(([, { kind }]) => kind === 'value')
    .map(([name]) => name)

const scalars = (value: unknown): string[] =>
  [value]
    .flat()
    .flatMap((each) => (['string', 'number', 'boolean'].includes(typeof each) ? [String(each)] : []))

/** None where the master has not made the folder yet. */
function idsIn({ pki_dir }: MasterConfig, section: KeySection): string[] {
  const folder = join(pki_dir, section)
  return existsSync(folder) ? readdirSync(folder).filter(isMinionId) : []
}

/** As many minions as there is time for: what they know is much alike. */
async function someGrains(
  config: MasterConfig,
  late: () => boolean,
): Promise<Readonly<Record<string, unknown>>[]> {
  const directory = minionDataDirectory(config)
  const { MinionData } = await import('../../jobs/minion-data.ts')
  if (!existsSync(MinionData.path(directory))) return []
  const data = MinionData.open(directory)
  const found: Readonly<Record<string, unknown>>[] = []
  for (const id of data.ids()) {
    if (late()) break
    const grains = data.grains(id)
    if (grains) found.push(grains)
  }
  return found
}

/** Of the catalogues that minions have sent; undefined if none has. */
async function offeredFunctions(config: MasterConfig, late: () => boolean): Promise<Functions | undefined> {
  const { Catalogues } = await import('../../jobs/catalogues.ts')
  if (!existsSync(Catalogues.path(minionDataDirectory(config)))) return undefined
  const catalogues = Catalogues.open(minionDataDirectory(config))
  const { readCatalogue } = await import('../../loader/read-catalogue.ts')
  const seen = new Set<string>()
  const all: Record<string, Parameters | null> = {}
  for (const id of idsIn(config, 'minions')) {
    if (late()) break
    const hash = catalogues.hash(id)
    if (hash === undefined || seen.has(hash)) continue
    seen.add(hash)
    Object.assign(all, readCatalogue(catalogues.text(hash) ?? '')?.functions)
  }
  return seen.size > 0 ? all : undefined
}

interface Entry {
  readonly names?: readonly string[]
  readonly params: Readonly<Record<string, Parameters>>
}

/** What the build wrote down of a kind; nothing where there was no build. */
function manifest(folder: string): Readonly<Record<string, Entry>> {
  return JSON.parse(readFileSync(join(codeRoot, folder, 'manifest.json'), 'utf8'))
}

function builtIn(kind: 'modules' | 'runners'): Functions {
  const functions = Object.entries(manifest(kind)).flatMap(([file, { names = [file], params }]) =>
    names.flatMap((name) => Object.entries(params).map(([own, takes]) => [`${name}.${own}`, takes])),
  )
  return Object.fromEntries(functions)
}

async function newestJobs(config: MasterConfig): Promise<Candidate[]> {
  const { JobCache } = await import('../../jobs/job-cache.ts')
  const directory = jobCacheDirectory(config)
  if (!existsSync(JobCache.path(directory))) return []
  const jobs = [...JobCache.open(directory).list({ limit: MOST_JOBS })]
  return jobs.map(({ jid, load }) => [jid, `${String(load.fun)} on ${String(load.tgt)}`])
}
