import type { Context } from 'salt-ts'
import { fnmatch } from '#internal'
import { type Changes, changesBetween, problem } from '../_pkg/changes.ts'
import type { Targets } from '../_pkg/targets.ts'
import { forgetInstalled, joinRepos, listJoined, listRepoPackages, refreshDatabases } from './packages.ts'
import { changeWithPacman, inRoot } from './run.ts'

export interface InstallOptions {
  readonly refresh: boolean
  readonly sysupgrade?: boolean | undefined
  readonly root?: string | undefined
}

/** Install packages and return the changes. Rejects with them if there are errors. */
export async function installPackages(
  targets: Targets,
  options: InstallOptions,
  context: Context,
): Promise<Changes> {
  const { root } = options
  const errors: string[] = []
  const words =
    targets.from === 'files'
      ? ['-U', ...inRoot(root), ...targets.paths]
      : await wordsFor(targets.packages, options, errors, context)
  if (errors.length > 0) throw problem('Problem encountered installing package(s)', { errors, changes: {} })
  return change(words, root, 'Problem encountered installing package(s)', context)
}

async function wordsFor(
  packages: ReadonlyMap<string, string | null>,
  { refresh, sysupgrade, root }: InstallOptions,
  errors: string[],
  context: Context,
): Promise<string[]> {
  const targets: string[] = []
  const globs = [...packages].filter(([, version]) => version?.includes('*')).map(([name]) => name)
  if (globs.length > 0 && refresh) await refreshDatabases(root, context)
  const available = globs.length > 0 ? joinRepos(await listRepoPackages(globs, [], context)) : {}
  for (const [name, given] of packages) {
    if (given === null) targets.push(name)
    else {
      const target = withVersion(name, given, available[name] ?? [])
      if ('error' in target) errors.push(target.error)
      else targets.push(target.word)
    }
  }
  return [
    '-S',
    '--needed',
    ...(refresh && globs.length === 0 ? ['-y'] : []),
    ...(sysupgrade ? ['-u'] : []),
    ...inRoot(root),
    ...targets,
  ]
}

function withVersion(
  name: string,
  given: string,
  available: readonly string[],
): { word: string } | { error: string } {
  const [, operator = '', version = given] = /^(<=|>=|<|>|=+)?\s?([^<>=]+)$/.exec(given) ?? []
  const prefix = operator.startsWith('=') || operator === '' ? '=' : operator
  if (!version.includes('*')) return { word: `${name}${prefix}${version}` }
  if (prefix !== '=') return { error: `Invalid wildcard for ${name}${prefix}${version}` }
  const found = available.find((one) => fnmatch(one, version))
  if (found !== undefined) return { word: `${name}=${found}` }
  return {
    error: `No version matching '${version}' found for package '${name}' (available: ${available.join(', ') || 'none'})`,
  }
}

/** Remove packages and return the changes; with `purge` also those that need them, and what only they needed. */
export async function removePackages(
  targets: Targets | undefined,
  action: 'remove' | 'purge',
  root: string | undefined,
  context: Context,
): Promise<Changes> {
  const old = await listJoined(context, root)
  const wanted = targets?.from === 'repository' ? [...targets.packages.keys()] : []
  const known = wanted.filter((name) => Object.hasOwn(old, name))
  if (known.length === 0) return {}
  const words = [action === 'purge' ? '-Rsc' : '-R', ...inRoot(root), ...known]
  return change(words, root, 'Problem encountered removing package(s)', context)
}

/** Upgrade all packages and return the changes. */
export async function upgradePackages(
  refresh: boolean,
  root: string | undefined,
  context: Context,
): Promise<Changes> {
  const old = await listJoined(context, root)
  const result = await changeWithPacman(['-Su', ...(refresh ? ['-y'] : []), ...inRoot(root)], context)
  forgetInstalled(context)
  const changes = changesBetween(old, await listJoined(context, root))
  if (result.retcode === 0) return changes
  throw problem('Problem encountered upgrading packages', { changes, result })
}

async function change(
  words: readonly string[],
  root: string | undefined,
  failure: string,
  context: Context,
): Promise<Changes> {
  const old = await listJoined(context, root)
  const { retcode, stdout, stderr } = await changeWithPacman(words, context)
  forgetInstalled(context)
  const changes = changesBetween(old, await listJoined(context, root))
  if (retcode === 0) return changes
  throw problem(failure, { errors: [stderr || stdout], changes })
}
