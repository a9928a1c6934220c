import { CommandExecutionError, type Context } from 'salt-ts'
import { problem } from '../_pkg/changes.ts'
import { append } from '../_pkg/group.ts'
import { waitingForLock } from '../_pkg/lock.ts'
import { plainNames } from '../_pkg/names.ts'
import { type Outcome, type ProgramOptions, runProgram } from '../_program/run.ts'
import { compareApkVersions } from './version.ts'

type Versions = Record<string, string[]>
const KEY = 'pkg.list_pkgs'

/** Run apk. While another one holds the lock of its database, it is run again. */
export function apk(
  words: readonly string[],
  context: Context,
  options: ProgramOptions = {},
): Promise<Outcome> {
  return waitingForLock(() => runProgram(['apk', ...words], context, options), holdsLock, context)
}

const holdsLock = ({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }): boolean =>
  /Unable to lock database/.test(stdout + stderr)

/** List the installed packages and their versions. */
export async function listVersions(context: Context, useContext = true): Promise<Versions> {
  const kept = context.context.get(KEY) as Versions | undefined
  if (kept && useContext) return kept
  const { stdout } = await apk(['info', '-v'], context, { quiet: true })
  const found = versionsIn(stdout)
  context.context.set(KEY, found)
  return found
}

/** As {@link listVersions}, with the versions of a package as one text. */
export async function listJoined(context: Context): Promise<Record<string, string>> {
  const found = Object.entries(await listVersions(context))
  return Object.fromEntries(found.map(([name, versions]) => [name, versions.join(',')]))
}

/** List anew what is installed, after a change. */
export function listAgain(context: Context): Promise<Record<string, string>> {
  context.context.delete(KEY)
  return listJoined(context)
}

// Lines are name-version-release; warnings are left out.
function versionsIn(text: string): Versions {
  const found: Versions = {}
  for (const [, name = '', version = ''] of text.matchAll(/^(\S+)-([^-\s]+-r\d+)$/gm))
    append(found, name, version)
  return found
}

/** Fetch the lists of packages. Rejects if apk cannot. */
export async function refreshLists(context: Context): Promise<true> {
  const { retcode, stdout, stderr } = await apk(['update'], context)
  if (retcode === 0) return true
  const errors = [stderr || stdout]
  throw problem('Problem encountered refreshing the lists of packages', { errors, changes: false })
}

/** List the packages that an upgrade would change, and their new versions. */
export async function listUpgrades(context: Context): Promise<Record<string, string>> {
  const { retcode, stdout, stderr } = await apk(['upgrade', '-s'], context)
  if (retcode !== 0) throw new CommandExecutionError(stderr + stdout)
  return upgradesIn(stdout)
}

const upgradesIn = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(/^\(\d+\/\d+\) Upgrading (\S+) \(\S+ -> (\S+?)\)/gm)].map(([, name, version]) => [
      name,
      version,
    ]),
  )

/** Find the latest versions that are available of packages, '' where they are installed. */
export async function latestVersions(
  names: readonly string[],
  context: Context,
): Promise<Record<string, string>> {
  plainNames(names)
  const installed = await listVersions(context)
  const { stdout } = await apk(['upgrade', '-s'], context, { quiet: true })
  const upgrades = upgradesIn(stdout)
  const latest: Record<string, string> = {}
  for (const name of names) {
    latest[name] = upgrades[name] ?? (await newest(name, context))
    if (installed[name]?.includes(latest[name])) latest[name] = ''
  }
  return latest
}

async function newest(name: string, context: Context): Promise<string> {
  const { stdout } = await apk(['search', '--exact', name], context, { quiet: true })
  const versions = versionsIn(stdout)[name] ?? []
  return versions.toSorted((a, b) => compareApkVersions(b, a))[0] ?? ''
}

/** List the files of packages. Paths are as apk shows them, without the first `/`. */
export async function filesOf(names: readonly string[], context: Context): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {}
  for (const name of plainNames(names)) {
    const { stdout } = await apk(['info', '-L', name], context)
    const files = stdout.split('\n').filter((line) => line !== '' && !line.endsWith('contains:'))
    if (files.length > 0) found[name] = files
  }
  return found
}

/** Find the packages that own paths, by path. */
export async function ownersOf(paths: readonly string[], context: Context): Promise<Record<string, string>> {
  const owners: Record<string, string> = {}
  for (const path of plainNames(paths)) {
    const { stdout } = await apk(['info', '-W', path], context)
    owners[path] = / by (.*)$/m.exec(stdout)?.[1]?.trim() ?? 'Could not find owner package'
  }
  return owners
}
