import type { Context } from 'salt-ts'
import { type Changes, changesBetween, problem, type Versions } from '../_pkg/changes.ts'
import { isComparison, matchingVersion } from '../_pkg/comparison.ts'
import { compareDebVersions } from '../_pkg/deb-version.ts'
import type { Targets } from '../_pkg/targets.ts'
import { latestVersions, listAvailable } from './available.ts'
import { aptGet } from './command.ts'
import { fileInfo } from './deb-file.ts'
import { holdPackages, unholdPackages } from './hold.ts'
import { listAgain, listInstalled } from './installed.ts'
import { refreshLists } from './refresh.ts'
import { readSelections } from './selections.ts'

export interface InstallOptions {
  readonly refresh: boolean
  readonly cache_valid_time: number
  readonly fromrepo?: string | undefined
  readonly skip_verify: boolean
  readonly reinstall: boolean
  readonly downloadonly: boolean
  readonly ignore_epoch: boolean
  readonly force_yes: boolean
  readonly force_conf_new: boolean
  readonly install_recommends?: boolean | undefined
  readonly only_upgrade: boolean
  readonly env?: unknown
}

/** One thing to install: the package, if it is known, the version, and the argument for apt-get. */
interface Wanted {
  readonly name?: string
  readonly version: string | null
  readonly argument: string
}
interface Sorted {
  readonly install: Wanted[]
  readonly downgrade: Wanted[]
  readonly reinstall: Wanted[]
}

/** Options that together allow what apt's former --force-yes did. */
const FORCE_YES = [
  '--allow-unauthenticated',
  '--allow-downgrades',
  '--allow-remove-essential',
  '--allow-change-held-packages',
]

/** Install packages and return the changes. Rejects with them if apt reports errors. */
export async function installPackages(
  targets: Targets,
  options: InstallOptions,
  context: Context,
): Promise<Changes> {
  const errors: string[] = []
  const old = await listInstalled({}, context)
  const refresh = options.refresh && (await needsRefresh(targets, context))
  if (refresh) await refreshLists(options.cache_valid_time, false, context)
  const wanted = await resolve(targets, options.ignore_epoch, errors, context)
  const sorted = sort(wanted, old, options.reinstall)
  const commands = commandsFor(sorted, targets.from, options)
  const changes = commands.length > 0 ? await run(commands, sorted, old, errors, options, context) : {}
  if (errors.length > 0) throw problem('Problem encountered installing package(s)', { errors, changes })
  return changes
}

// If every version that is asked for is the latest one, nothing newer has to be looked for.
async function needsRefresh(targets: Targets, context: Context): Promise<boolean> {
  if (targets.from === 'files') return true
  const names = [...targets.packages.keys()]
  if ([...targets.packages.values()].includes(null)) return true
  const latest = await latestVersions(names, { show_installed: true }, context)
  return names.some((name) => latest[name] !== targets.packages.get(name))
}

async function resolve(
  targets: Targets,
  ignoreEpoch: boolean,
  errors: string[],
  context: Context,
): Promise<Wanted[]> {
  if (targets.from === 'files') return Promise.all(targets.paths.map((path) => wantedFile(path, context)))
  const entries = [...targets.packages]
  const compared = entries.filter(([, version]) => isComparison(version)).map(([name]) => name)
  const available = compared.length > 0 ? await listAvailable(compared, context) : {}
  return entries.flatMap(([name, given]): Wanted[] => {
    if (given === null) return [{ name, version: null, argument: name }]
    const version = isComparison(given)
      ? matchingVersion(given, available[name] ?? [], compareDebVersions, ignoreEpoch)
      : given.replace(/^=+/, '')
    if (version !== undefined) return [{ name, version, argument: `${name}=${version}` }]
    errors.push(
      `No version matching '${name}${given}' could be found (available: ${available[name]?.join(', ') ?? 'None'})`,
    )
    return []
  })
}

async function wantedFile(path: string, context: Context): Promise<Wanted> {
  const { name, version } = await fileInfo(path, context)
  return { name, version, argument: path }
}

function sort(wanted: readonly Wanted[], old: Versions, reinstall: boolean): Sorted {
  const sorted: Sorted = { install: [], downgrade: [], reinstall: [] }
  for (const one of wanted) sorted[actionFor(one, old, reinstall)].push(one)
  return sorted
}

function actionFor({ name, version }: Wanted, old: Versions, reinstall: boolean): keyof Sorted {
  const current = name === undefined ? undefined : old[name]
  if (current === undefined) return 'install'
  if (version === null) return reinstall ? 'reinstall' : 'install'
  const order = compareDebVersions(version, current)
  if (order === 0 && reinstall) return 'reinstall'
  return order < 0 ? 'downgrade' : 'install'
}

function commandsFor(sorted: Sorted, from: Targets['from'], options: InstallOptions): string[][] {
  const prefix = prefixFor(from, options)
  const command = (extra: readonly string[], wanted: readonly Wanted[]) =>
    wanted.length > 0 ? [[...prefix, ...extra, 'install', ...wanted.map(({ argument }) => argument)]] : []
  return [
    ...command([], sorted.install),
    ...command(['--allow-downgrades'], sorted.downgrade),
    ...command(['--reinstall'], sorted.reinstall),
  ]
}

function prefixFor(from: Targets['from'], options: InstallOptions): string[] {
  return [
    '-q',
    '-y',
    ...(options.force_yes ? FORCE_YES : []),
    ...conffileOptions(options.force_conf_new),
    ...recommends(options.install_recommends),
    ...(options.only_upgrade ? ['--only-upgrade'] : []),
    ...(options.skip_verify ? ['--allow-unauthenticated'] : []),
    ...(options.downloadonly ? ['--download-only'] : []),
    ...(options.fromrepo && from === 'repository' ? ['-t', options.fromrepo] : []),
  ]
}

function recommends(wanted: boolean | undefined): string[] {
  if (wanted === undefined) return []
  return [wanted ? '--install-recommends' : '--no-install-recommends']
}

/** What dpkg does with a configuration file that was changed here: keep it, or take the new one. */
export function conffileOptions(takeNew: boolean): string[] {
  const choices = takeNew ? ['--force-confnew'] : ['--force-confold', '--force-confdef']
  return choices.flatMap((choice) => ['-o', `DPkg::Options::=${choice}`])
}

async function run(
  commands: readonly string[][],
  sorted: Sorted,
  old: Versions,
  errors: string[],
  { env }: InstallOptions,
  context: Context,
): Promise<Changes> {
  const held = await heldAmong([...sorted.install, ...sorted.downgrade, ...sorted.reinstall], context)
  if (held.length > 0) await unholdPackages(held, context)
  try {
    for (const command of commands) {
      const { retcode, stdout, stderr } = await aptGet(command, context, { env })
      if (retcode !== 0) errors.push(stderr || stdout || `apt-get exited with status ${retcode}`)
    }
  } finally {
    if (held.length > 0) await holdPackages(held, context)
  }
  const now = await listAgain({}, context)
  const changes = changesBetween(old, now)
  for (const { name = '' } of sorted.reinstall) changes[name] = { old: old[name] ?? '', new: now[name] ?? '' }
  return changes
}

async function heldAmong(wanted: readonly Wanted[], context: Context): Promise<string[]> {
  const { hold = [] } = await readSelections(undefined, context)
  return hold.filter((name) => wanted.some((one) => one.name === name))
}

/** Remove or purge packages, and return the changes. */
export async function uninstallPackages(
  action: 'remove' | 'purge',
  targets: Targets,
  env: unknown,
  context: Context,
): Promise<Changes | { removed: Changes; installed: Changes }> {
  const wanted = targets.from === 'repository' ? [...targets.packages.keys()] : []
  const old = await listInstalled({}, context)
  const oldRemoved = await listInstalled({ removed: true }, context)
  const known = wanted.filter((name) => name in old || (action === 'purge' && name in oldRemoved))
  if (known.length === 0) return {}
  const { retcode, stdout, stderr } = await aptGet(['-q', '-y', action, ...known], context, { env })
  const installed = changesBetween(old, await listAgain({}, context))
  const removed = changesBetween(oldRemoved, await listInstalled({ removed: true }, context))
  const changes = action === 'purge' ? { removed, installed } : installed
  if (retcode === 0) return changes
  throw problem('Problem encountered removing package(s)', { errors: [stderr || stdout], changes })
}
