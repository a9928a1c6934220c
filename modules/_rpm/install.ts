import { CommandExecutionError, type Context, SaltInvocationError } from 'salt-ts'
import { fnmatch } from '#internal'
import { type Changes, changesBetween, problem } from '../_pkg/changes.ts'
import { isComparison, matchingVersion, withoutEpoch } from '../_pkg/comparison.ts'
import { plainNames } from '../_pkg/names.ts'
import type { Targets } from '../_pkg/targets.ts'
import { splitArch } from './arch.ts'
import { joinRepos, listRepoPackages } from './available.ts'
import { fileInfo, listDownloaded } from './files.ts'
import { HOLD_PATTERN, holdPackages, listHolds, unholdPackages } from './holds.ts'
import { forgetInstalled, listAttributes, listVersions } from './installed.ts'
import { managerName, type RepoOptions, repoArgs, runManager } from './manager.ts'
import { listPatches } from './patches.ts'
import { compareRpmVersions } from './version.ts'

export interface InstallOptions extends RepoOptions {
  readonly skip_verify: boolean
  readonly downloadonly: boolean
  readonly reinstall: boolean
  readonly update_holds: boolean
  readonly ignore_epoch: boolean
  readonly split_arch: boolean
  readonly attr: readonly string[]
}

/** One thing to install: the package, if it is known, and the word for dnf or yum. */
interface Wanted {
  readonly name?: string | undefined
  readonly version: string | null
  readonly word: string
}
type Action = 'install' | 'downgrade' | 'reinstall'

/** Install packages, files or advisories and return the changes. Rejects with them if there are errors. */
export async function installPackages(
  targets: Targets | { readonly from: 'advisories'; readonly ids: readonly string[] },
  options: InstallOptions,
  context: Context,
): Promise<Changes> {
  const errors: string[] = []
  const old = await stateOf(options, context)
  const installed = options.downloadonly ? {} : await listVersions(context)
  const wanted =
    targets.from === 'advisories'
      ? await advisories(targets.ids, context)
      : await resolve(targets, options, errors, context)
  const sorted: Record<Action, Wanted[]> = { install: [], downgrade: [], reinstall: [] }
  for (const one of wanted) sorted[actionFor(one, installed, options)].push(one)
  const verb = targets.from === 'advisories' ? 'update' : 'install'
  await run(sorted, verb, options, errors, context)
  forgetInstalled(context)
  const now = await stateOf(options, context)
  const changes = changesBetween(old, now)
  for (const { name } of sorted.reinstall)
    if (name !== undefined) changes[name] = { old: old[name] ?? '', new: now[name] ?? '' }
  if (errors.length === 0) return changes
  const what = sorted.reinstall.length > 0 ? 'installing/reinstalling' : 'installing'
  throw problem(`Error occurred ${what} package(s)`, { errors, changes })
}

async function stateOf({ downloadonly, attr }: InstallOptions, context: Context) {
  return downloadonly
    ? listDownloaded(`/var/cache/${await managerName()}`, context)
    : listAttributes(attr, context)
}

async function advisories(ids: readonly string[], context: Context): Promise<Wanted[]> {
  const known = await listPatches(false, context)
  for (const id of plainNames(ids))
    if (!Object.hasOwn(known, id)) throw new CommandExecutionError(`Advisory id "${id}" not found`)
  return ids.map((id) => ({ version: null, word: `--advisory=${id}` }))
}

async function resolve(
  targets: Targets,
  options: InstallOptions,
  errors: string[],
  context: Context,
): Promise<Wanted[]> {
  if (targets.from === 'files') {
    const files: Wanted[] = []
    for (const path of targets.paths) {
      const info = await fileInfo(path, context)
      if (!info) context.log.error(`${path} cannot be read as a package; its version will not be compared`)
      files.push({ name: info?.name, version: info?.version ?? null, word: path })
    }
    return files
  }
  const open = [...targets.packages].filter(([, version]) => isOpen(version)).map(([name]) => name)
  const available = open.length > 0 ? joinRepos(await listRepoPackages(open, options, context)) : {}
  return [...targets.packages].flatMap(([name, given]): Wanted[] => {
    if (given === null) return [{ name, version: null, word: name }]
    const found = chosenVersion(given.replace(/^=+/, ''), available[name] ?? [], options)
    if (found !== undefined) return [withVersion(name, found, options)]
    const known = available[name]?.join(', ')
    errors.push(
      isComparison(given)
        ? `No version matching '${name}${given}' could be found (available: ${known ?? 'None'})`
        : `No version matching '${given}' found for package '${name}' (available: ${known ?? 'none'})`,
    )
    return []
  })
}

const isOpen = (version: string | null): boolean => isComparison(version) || (version ?? '').includes('*')

function chosenVersion(
  version: string,
  available: readonly string[],
  { ignore_epoch }: InstallOptions,
): string | undefined {
  if (isComparison(version)) return matchingVersion(version, available, compareRpmVersions, ignore_epoch)
  return version.includes('*') ? available.find((one) => fnmatch(one, version)) : version
}

// The packages are named as name-version.arch, without the epoch, which yum reads only before the name.
function withVersion(given: string, version: string, { split_arch }: InstallOptions): Wanted {
  const { name, arch } = split_arch ? splitArch(given) : { name: given, arch: null }
  const isForeign = arch !== null && arch !== 'noarch'
  const word = `${isForeign ? name : given}-${withoutEpoch(version)}${isForeign ? `.${arch}` : ''}`
  return { name: given, version, word }
}

function actionFor(
  { name, version }: Wanted,
  installed: Readonly<Record<string, readonly string[]>>,
  { reinstall, ignore_epoch }: InstallOptions,
): Action {
  const current = (name !== undefined && installed[name]) || []
  if (name === undefined || current.length === 0) return 'install'
  if (version === null) return reinstall ? 'reinstall' : 'install'
  const clean = (text: string) => (ignore_epoch ? withoutEpoch(text) : text)
  const orders = current.map((one) => compareRpmVersions(clean(version), clean(one)))
  if (reinstall && orders.includes(0)) return 'reinstall'
  // Several kernels can be installed at once.
  return orders.some((order) => order >= 0) || /^kernel(?:-devel)?$/.test(name) ? 'install' : 'downgrade'
}

async function run(
  sorted: Record<Action, Wanted[]>,
  verb: 'install' | 'update',
  options: InstallOptions,
  errors: string[],
  context: Context,
): Promise<void> {
  const holds = await holdsIfAny(context)
  const isHeld = ({ name }: Wanted) => name !== undefined && holds.includes(name)
  const all = Object.values(sorted).flat()
  const held = [...new Set(all.filter(isHeld).map(({ name }) => name!))]
  const prevented = options.update_holds ? [] : held
  const unheld = options.update_holds ? held : []
  if (unheld.length > 0) await unholdPackages(unheld, context)
  try {
    for (const [action, wanted] of Object.entries(sorted) as [Action, Wanted[]][]) {
      const words = wanted.filter(({ name }) => !prevented.includes(name ?? '')).map(({ word }) => word)
      if (words.length === 0) continue
      const command = await commandFor(action === 'install' ? verb : action, words, options)
      const { retcode, stdout } = await runManager(command, context, { merged: true })
      if (retcode !== 0) errors.push(stdout)
    }
  } finally {
    forgetInstalled(context)
    if (unheld.length > 0) await holdPackages(unheld, context)
  }
  if (prevented.length > 0)
    errors.push(
      `The following package(s) could not be updated because they are being held: ${prevented.join(', ')}. Set 'update_holds' to True to temporarily unhold these packages so that they can be updated.`,
    )
}

// Without the plugin for holds there are none.
async function holdsIfAny(context: Context): Promise<string[]> {
  try {
    return await listHolds(HOLD_PATTERN, false, context)
  } catch (error) {
    if (!(error instanceof SaltInvocationError)) throw error
    context.log.debug(`The holds cannot be listed: ${error.message}`)
    return []
  }
}

async function commandFor(
  verb: Action | 'update',
  words: readonly string[],
  options: InstallOptions,
): Promise<string[]> {
  const manager = await managerName()
  const best = ['install', 'update'].includes(verb) ? ['--best', '--allowerasing'] : []
  return [
    '-y',
    ...(manager === 'dnf' ? best : []),
    ...repoArgs(options),
    ...(options.skip_verify ? ['--nogpgcheck'] : []),
    ...(options.downloadonly ? ['--downloadonly'] : []),
    verb,
    ...(manager === 'dnf5' ? best : []),
    ...words,
  ]
}
