import { CommandExecutionError, type Context } from 'salt-ts'
import { fnmatch } from '#internal'
import { append } from '../_pkg/group.ts'
import { plainNames } from '../_pkg/names.ts'
import { inRoot, pacman, rowsOf } from './run.ts'
import { comparePacmanVersions } from './version.ts'

type Versions = Record<string, string[]>
const KEY = 'pkg.list_pkgs'

/** List the installed packages and their versions. */
export async function listVersions(
  context: Context,
  { root, useContext = true }: { readonly root?: string | undefined; readonly useContext?: boolean } = {},
): Promise<Versions> {
  const key = `${KEY}_${root ?? '/'}`
  const kept = context.context.get(key) as Versions | undefined
  if (kept && useContext) return kept
  const { stdout } = await pacman(['-Q', ...inRoot(root)], context)
  const found: Versions = {}
  for (const [name, version] of rowsOf(stdout)) if (name && version) append(found, name, version)
  context.context.set(key, found)
  return found
}

/** As {@link listVersions}, with the versions of a package as one text. */
export async function listJoined(context: Context, root?: string): Promise<Record<string, string>> {
  const found = Object.entries(await listVersions(context, { root }))
  return Object.fromEntries(found.map(([name, versions]) => [name, versions.join(',')]))
}

/** Forget what was listed, after a change. */
export function forgetInstalled({ context }: Context): void {
  for (const key of [...context.keys()]) if (key.startsWith(KEY)) context.delete(key)
}

const FORMAT = ['--print-format', '%n %v']

/** Find the versions that an installation would bring, '' where nothing newer is available. */
export async function latestVersions(
  names: readonly string[],
  root: string | undefined,
  context: Context,
): Promise<Record<string, string>> {
  plainNames(names)
  const find = async (some: readonly string[]) => {
    const words = ['-Sp', '--needed', ...FORMAT, ...inRoot(root), ...some]
    return pacman(words, context, { ignoreRetcode: some.length > 1 })
  }
  const all = await find(names)
  const found = new Map(pairsOf(all.stdout))
  // One name that is not known makes pacman print nothing of the others.
  if (all.retcode !== 0 && names.length > 1)
    for (const name of names) for (const pair of pairsOf((await find([name])).stdout)) found.set(...pair)
  return Object.fromEntries(names.map((name) => [name, found.get(name) ?? '']))
}

/** List the packages that an upgrade would change, and their new versions. */
export async function listUpgrades(
  refresh: boolean,
  root: string | undefined,
  context: Context,
): Promise<Record<string, string>> {
  const words = ['-Sup', ...(refresh ? ['-y'] : []), ...FORMAT, ...inRoot(root)]
  const { retcode, stdout, stderr } = await pacman(words, context)
  if (retcode !== 0) {
    const text = stderr + stdout
    throw new CommandExecutionError(`Error listing upgrades${text && `: ${text}`}`)
  }
  return Object.fromEntries(pairsOf(stdout))
}

// Lines about the databases that are downloaded are of two words, too.
const pairsOf = (text: string): [string, string][] =>
  rowsOf(text).flatMap((row): [string, string][] => {
    const [name = '', version = ''] = row
    const isDownload = [name, version].some((word) => /^downloading/i.test(word))
    return row.length === 2 && !isDownload ? [[name, version]] : []
  })

/** Fetch the databases. Returns for each whether it was fetched; false means that it had not changed. */
export async function refreshDatabases(
  root: string | undefined,
  context: Context,
): Promise<Record<string, boolean>> {
  const { retcode, stdout, stderr } = await pacman(['-Sy', ...inRoot(root)], context)
  if (retcode !== 0) throw new CommandExecutionError(`Error refreshing package database: ${stderr}`)
  const fetched: Record<string, boolean> = {}
  for (const line of stdout.split('\n').map((one) => one.trim())) {
    const [, same] = /^(\S+)(?:\.db)? is up to date/.exec(line) ?? []
    // pacman 6 writes `core downloading...`, earlier ones `downloading core.db...`.
    const [, name, older] = /^(?:(\S+) downloading|downloading (\S+?)\.)/.exec(line) ?? []
    if (same) fetched[same] = false
    else if (name ?? older) fetched[(name ?? older)!.replace(/\.db$/, '')] = true
  }
  return fetched
}

export type ByRepo = Record<string, Versions>

/** List the packages of the databases by repository; names may be globs. */
export async function listRepoPackages(
  globs: readonly string[],
  repos: readonly string[],
  context: Context,
): Promise<ByRepo> {
  const { stdout } = await pacman(['-Sl'], context, { ignoreRetcode: true })
  const found: ByRepo = {}
  for (const [repo = '', name = '', version = ''] of rowsOf(stdout)) {
    if (version === '' || (repos.length > 0 && !repos.includes(repo))) continue
    if (globs.length > 0 && !globs.some((glob) => fnmatch(name, glob))) continue
    found[repo] ??= {}
    append(found[repo]!, name, version)
  }
  return found
}

/** Join the packages of all repositories, the newest version first. */
export function joinRepos(found: ByRepo): Versions {
  const joined: Versions = {}
  for (const packages of Object.values(found))
    for (const [name, versions] of Object.entries(packages))
      for (const version of versions) append(joined, name, version)
  for (const versions of Object.values(joined)) versions.sort((a, b) => comparePacmanVersions(b, a))
  return joined
}
