import { availableParallelism } from 'node:os'
import path from 'node:path'
import type { Log } from '../../../author/context.ts'
import { SaltError } from '../../../base/errors.ts'
import { isBelow } from '../../../base/files/open-inside.ts'
import { mapConcurrently } from '../../../base/map-concurrently.ts'
import type { Finding } from '../../../loader/check/rules.ts'
import { type HiddenFile, indexFiles, type SourceFile } from '../../../loader/files/index-files.ts'
import { collectGrains, LOAD_MS, probeFiles } from '../../../loader/index.ts'
import { type Kind, kinds } from '../../../loader/kinds.ts'
import { printNote } from '../../output/console.ts'
import { resultFindings } from './result-types.ts'
import { hiddenFindings, unfoundFindings } from './unfound-files.ts'

export interface CheckedFolder {
  /** By file and line. */
  readonly findings: readonly Finding[]
  /** The number of extensions that were checked. */
  readonly files: number
}

interface Extension {
  readonly kind: Kind
  readonly file: SourceFile
}

/** Problems of the check itself, and nothing of the files that are loaded. */
const log: Log = {
  trace() {},
  debug() {},
  info() {},
  warn() {},
  error: (text) => printNote(`ERROR: ${text}`),
}

/**
 * Check all extensions of a folder: in folders by the names of their kinds, or that its `package.json` declares. Each is loaded in a
 * process of its own, which may take `loadMs` milliseconds for it.
 */
export async function checkFolder(folder: string, { loadMs = LOAD_MS } = {}): Promise<CheckedFolder> {
  const config = configFor(folder)
  const { extensions, hidden } = await extensionsIn(folder, config)
  const unfound = await unfoundFindings(folder, [...extensions.map(({ file }) => file), ...hidden])
  if (extensions.length + unfound.length === 0) throw noExtensions(folder)
  const grains = await collectGrains({}, log)
  const found = await mapConcurrently(
    extensions,
    async ({ kind, file }) => {
      const given = { config, grains, log, timeoutMs: loadMs, checked: [file.path] }
      return (await probeFiles(kind.name, [file.path], given)).findings
    },
    availableParallelism(),
  )
  const callable = extensions.filter(({ kind }) => kind.shape === 'functions' && kind.name !== 'utils')
  const ofResults = await resultFindings(
    callable.map(({ file }) => file.path),
    folder,
  )
  return {
    findings: sorted([...unfound, ...hiddenFindings(hidden, folder), ...found.flat(), ...ofResults]),
    files: extensions.length,
  }
}

/** Return the configuration of a loader that finds the extensions of a folder, also if it is that of one kind. */
function configFor(folder: string): Readonly<Record<string, unknown>> {
  const own = path.basename(folder).replace(/^_/, '')
  const isOfKind = own === 'plugins' || [...kinds.values()].some(({ folders }) => folders.includes(own))
  const base = isOfKind ? path.dirname(folder) : folder
  // `module_dirs` with the folder itself would make modules of all scripts in it.
  const directories = Array.from(kinds.values(), ({ dirsKey, folders }) => [
    dirsKey,
    folders
      .flatMap((name) => [name, `_${name}`])
      .flatMap((name) => [path.join(base, name), path.join(base, 'plugins', name)]),
  ])
  return { id: 'check', plugin_packages: [base], ...Object.fromEntries(directories) }
}

interface FolderListing {
  readonly extensions: readonly Extension[]
  /** Files with the names of others, which are not loaded. */
  readonly hidden: readonly HiddenFile[]
}

async function extensionsIn(
  folder: string,
  config: Readonly<Record<string, unknown>>,
): Promise<FolderListing> {
  const installed = `${path.sep}node_modules${path.sep}`
  const isOwn = (file: SourceFile) =>
    !file.builtIn && isBelow(file.path, folder) && !file.path.slice(folder.length).includes(installed)
  const listings = await Promise.all(
    Array.from(kinds.values(), async (kind) => ({ kind, ...(await indexFiles(kind, config)) })),
  )
  return {
    extensions: listings.flatMap(({ kind, files }) => files.filter(isOwn).map((file) => ({ kind, file }))),
    hidden: listings.flatMap(({ hidden }) => hidden.filter(isOwn)),
  }
}

function noExtensions(folder: string): SaltError {
  const names = [...kinds.values()].map(({ folders }) => folders[0])
  return new SaltError(
    'INVOCATION',
    `There are no extensions in ${folder}. They belong into folders named by their kind: ${names.join(', ')}, or such a name after _.`,
    { folder },
  )
}

/** Sort findings by their places, and leave out those that several extensions have, as importing the same helper. */
function sorted(findings: readonly Finding[]): Finding[] {
  const unique = new Map(findings.map((one) => [JSON.stringify(one), one]))
  return [...unique.values()].sort(
    (a, b) => compare(a.file, b.file) || a.line - b.line || a.column - b.column || compare(a.rule, b.rule),
  )
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
