/**
 * Words for completion that depend on a configuration: minions, functions, jobs. They are read from the files and
 * stores that this user may read, without asking any process.
 */
import { accessSync, constants, existsSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { isMinionId } from '../../base/minion-id.ts'
import { Catalogues } from '../../cache/catalogues.ts'
import { MinionData } from '../../cache/minion-data.ts'
import { jobCacheDirectory, minionDataDirectory } from '../../config/cachedir.ts'
import { loadMasterConfig, type MasterConfig } from '../../config/index.ts'
import { JobCache } from '../../jobs/job-cache.ts'
import { readCatalogue } from '../../loader/describe/read-catalogue.ts'
import { type Parameters, parameterNames, type Row, type Tables } from './rows.ts'

/** Number of jobs that are proposed. */
const MAX_JOBS = 20
/** Number of minions whose grains are read; those of further minions are much the same. */
const MAX_MINIONS = 500

const SECTIONS = ['minions', 'minions_pre', 'minions_rejected', 'minions_denied']

/**
 * Return the tables `keys`, `grains`, `functions`, `nodegroups`, `jobs`, and `made-of`: the files and folders they
 * were read from. What this user may not read is left out; without a configuration all tables are empty.
 */
export function configTables(configDir: string): Tables {
  const file = join(configDir, 'master')
  try {
    return tablesOf(loadMasterConfig({ configDir }).config, file)
  } catch {
    const nothing = { keys: [], grains: [], functions: [], nodegroups: [], jobs: [] }
    return { ...nothing, 'made-of': [['configuration', file]] }
  }
}

function tablesOf(config: MasterConfig, file: string): Tables {
  const keys = SECTIONS.map((section) => join(config.pki_dir, section)).filter(isReadable)
  const stores = [
    MinionData.path(minionDataDirectory(config)),
    Catalogues.path(minionDataDirectory(config)),
    JobCache.path(jobCacheDirectory(config)),
  ]
  return {
    keys: readable(() => keys.flatMap((folder) => idsIn(folder).map((id) => [basename(folder), id]))),
    grains: readable(() => grains(config)),
    functions: readable(() => functions(config)),
    nodegroups: Object.keys(config.nodegroups)
      .sort()
      .map((name) => [name]),
    jobs: readable(() => newestJobs(config)),
    'made-of': [
      ...keys.map((folder) => ['keys', folder]),
      ...stores.map((store) => ['store', store]),
      ['configuration', file],
    ],
  }
}

/** Read rows; none if a file may not be read, or is being written. */
function readable(read: () => Row[]): Row[] {
  try {
    return read()
  } catch {
    return []
  }
}

function isReadable(folder: string): boolean {
  try {
    accessSync(folder, constants.R_OK)
    return true
  } catch {
    return false
  }
}

const idsIn = (folder: string): string[] => readdirSync(folder).filter(isMinionId).sort()

function grains(config: MasterConfig): Row[] {
  const directory = minionDataDirectory(config)
  if (!existsSync(MinionData.path(directory))) return []
  const data = MinionData.open(directory)
  const known = [...data.ids()].slice(0, MAX_MINIONS).map((id) => data.grains(id) ?? {})
  const pairs = known.flatMap((each) =>
    Object.entries(each).flatMap(([key, value]) => scalars(value).map((scalar) => `${key}\t${scalar}`)),
  )
  return [...new Set(pairs)].sort().map((pair) => pair.split('\t', 2))
}

const scalars = (value: unknown): string[] =>
  [value]
    .flat()
    .map((each) =>
      ['string', 'number', 'boolean'].includes(typeof each) ? String(each).replaceAll('\t', ' ') : '',
    )

/** List the functions of the catalogues that minions have sent. */
function functions(config: MasterConfig): Row[] {
  const directory = minionDataDirectory(config)
  if (!existsSync(Catalogues.path(directory))) return []
  const catalogues = Catalogues.open(directory)
  const ids = idsIn(join(config.pki_dir, 'minions'))
  const hashes = new Set(ids.map((id) => catalogues.hash(id)).filter((hash) => hash !== undefined))
  const found: Record<string, Parameters | null> = {}
  for (const hash of hashes) Object.assign(found, readCatalogue(catalogues.text(hash) ?? '')?.functions)
  return Object.keys(found)
    .sort()
    .map((name) => [name, parameterNames(found[name])])
}

/** List jobs, the newest first. */
function newestJobs(config: MasterConfig): Row[] {
  const directory = jobCacheDirectory(config)
  if (!existsSync(JobCache.path(directory))) return []
  const jobs = [...JobCache.open(directory).list({ limit: MAX_JOBS })]
  return jobs.map(({ jid, load }) => [jid, `${String(load.fun)} on ${String(load.tgt)}`])
}
