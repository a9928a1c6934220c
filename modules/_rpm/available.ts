import type { Context } from 'salt-ts'
import { append } from '../_pkg/group.ts'
import { listed, plainNames } from '../_pkg/names.ts'
import { splitArch } from './arch.ts'
import { listVersions } from './installed.ts'
import {
  expireLists,
  isDnf,
  managerName,
  parseList,
  type RepoOptions,
  readManager,
  repoArgs,
} from './manager.ts'
import { listRepos, type RepoFiles } from './repos.ts'
import { compareRpmVersions } from './version.ts'

/** Find the latest available versions of packages, '' where one that is as late is installed. */
export async function latestVersions(
  names: readonly string[],
  refresh: boolean,
  repos: RepoOptions,
  context: Context,
): Promise<Record<string, string>> {
  plainNames(names)
  if (refresh) await expireLists(repos, context)
  const args = ['--quiet', ...repoArgs(repos), 'list', 'available', ...names]
  const { retcode, stdout, stderr } = await readManager(args, context)
  const installed = await listVersions(context)
  if (retcode !== 0 && stderr && names.some((name) => !Object.hasOwn(installed, name)))
    context.log.error(`The latest versions of ${names.join(', ')} cannot be found: ${stderr}`)
  const available = retcode === 0 ? parseList(stdout, context.grains) : []
  return Object.fromEntries(
    names.map((name) => {
      const newest = available
        .filter((one) => one.name === name && fits(one.arch, name, context))
        .map(({ version }) => version)
        .sort((a, b) => compareRpmVersions(b, a))[0]
      const known = (installed[name] ?? []).some((found) => compareRpmVersions(found, newest ?? '') >= 0)
      return [name, newest === undefined || known ? '' : newest]
    }),
  )
}

const fits = (arch: string, name: string, { grains }: Context): boolean =>
  arch === 'noarch' || arch === (splitArch(name).arch ?? grains.osarch) || /^i[3-6]86$/.test(arch)

/** List the packages that an upgrade would change, and their new versions. */
export async function listUpgradable(repos: RepoOptions, context: Context): Promise<Record<string, string>> {
  const kind = isDnf(await managerName()) ? '--upgrades' : 'updates'
  const { stdout } = await readManager(['--quiet', ...repoArgs(repos), 'list', kind], context)
  return Object.fromEntries(parseList(stdout, context.grains).map(({ name, version }) => [name, version]))
}

export type ByRepo = Record<string, Record<string, string[]>>

/** Which packages of repositories to list. */
export interface AvailableOptions extends RepoOptions {
  readonly cacheonly?: boolean
  readonly files?: RepoFiles
}

/** List the packages of repositories, the newest version first. Names may be globs. */
export async function listRepoPackages(
  names: readonly string[],
  { cacheonly, files = {}, ...repos }: AvailableOptions,
  context: Context,
): Promise<ByRepo> {
  plainNames(names)
  const found: ByRepo = {}
  for (const repo of plainNames(await reposToList(repos, files, context))) {
    const list =
      (await managerName()) === 'tdnf'
        ? [`--enablerepo=${repo}`, 'list']
        : ['--showduplicates', 'repository-packages', repo, 'list']
    const args = ['--quiet', ...list, ...(cacheonly ? ['-C'] : []), ...names]
    const { retcode, stdout } = await readManager(args, context)
    if (retcode !== 0 && stdout.includes('Error:')) continue
    for (const one of parseList(stdout, context.grains)) {
      found[one.repo] ??= {}
      const packages = found[one.repo]!
      // An installed version is listed twice if the repository still has it.
      if (!packages[one.name]?.includes(one.version)) append(packages, one.name, one.version)
    }
  }
  for (const packages of Object.values(found)) sortVersions(packages)
  return found
}

async function reposToList(repos: RepoOptions, files: RepoFiles, context: Context): Promise<string[]> {
  const only = listed(repos.fromrepo)
  if (only.length > 0) return only
  const [enabled, disabled] = [listed(repos.enablerepo), listed(repos.disablerepo)]
  const known = Object.entries(await listRepos(files, context))
  return known
    .filter(([name, info]) => enabled.includes(name) || (!disabled.includes(name) && isEnabled(info.enabled)))
    .map(([name]) => name)
}

const isEnabled = (value: unknown): boolean =>
  ['1', 'true', 'yes'].includes(String(value ?? '1').toLowerCase())

/** Join the packages of all repositories. */
export function joinRepos(found: ByRepo): Record<string, string[]> {
  const joined: Record<string, string[]> = {}
  for (const packages of Object.values(found))
    for (const [name, versions] of Object.entries(packages))
      for (const version of versions) append(joined, name, version)
  sortVersions(joined)
  return joined
}

function sortVersions(packages: Record<string, string[]>): void {
  for (const [name, versions] of Object.entries(packages))
    packages[name] = versions.toSorted((a, b) => compareRpmVersions(b, a))
}
