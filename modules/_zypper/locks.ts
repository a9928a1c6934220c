/** Locks, which hold packages back from changes. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CommandExecutionError, type Context } from 'salt-ts'
import { pythonRegExp } from '#internal'
import { type HoldResult, report } from '../_pkg/hold.ts'
import { plainNames } from '../_pkg/names.ts'
import { packageInfos } from '../_rpm/info.ts'
import { search } from './available.ts'
import { zypper, zypperElements } from './run.ts'

type Root = string | undefined
type Lock = Readonly<Record<string, string>>

const fileOf = (root: Root): string => join(root ?? '/', 'etc/zypp/locks')

const readLocks = (root: Root): Promise<string | undefined> =>
  readFile(fileOf(root), 'utf8').catch(() => undefined)

/** List the locks by the name of the package: `type`, `match_type`, `case_sensitive`, `version`. */
export async function listLocks(root: Root): Promise<Record<string, Lock>> {
  const parts = ((await readLocks(root)) ?? '').split('\n\n')
  const locks = parts.map((part) =>
    Object.fromEntries(
      part.split('\n').flatMap((line) => {
        const [, name, value = ''] = /^\s*([^#:\s][^:]*):(.*)$/.exec(line) ?? []
        return name === undefined ? [] : [[name.trim(), value.trim()]]
      }),
    ),
  )
  return Object.fromEntries(
    locks.flatMap(({ solvable_name, ...lock }) => (solvable_name ? [[solvable_name, lock]] : [])),
  )
}

/** Remove the locks that lock no package, and return how many: a number as text, or 0. */
export async function cleanLocks(root: Root, context: Context): Promise<{ removed: string | number }> {
  if ((await readLocks(root)) === undefined) return { removed: 0 }
  const messages = await zypperElements('message', ['cl'], context, { root })
  const found = messages.map(({ text }) => /^\s*removed (\S+)/i.exec(text)?.[1]).find(Boolean)
  return { removed: found ?? 0 }
}

type Target = readonly [name: string, version: string | undefined]

/** Return the packages to hold: `pkgs`, a list of names and of maps name → version, or else `name`. */
function targetsOf(name: string | undefined, pkgs: unknown): Target[] {
  const given = [pkgs].flat().filter(Boolean)
  if (given.length === 0 && !name) throw new CommandExecutionError('Name or packages must be specified.')
  const targets = (given.length > 0 ? given : [name]).map((item): Target => {
    if (typeof item !== 'object' || item === null) return [String(item), undefined]
    const [[target, version] = ['', undefined]] = Object.entries(item)
    return [target, version == null ? undefined : String(version)]
  })
  plainNames(targets.map(([target]) => target))
  return targets
}

const withVersion = (name: string, version: string | undefined): string =>
  version ? `${name}=${version}` : name

/** Hold packages. */
export async function hold(name: string | undefined, pkgs: unknown, root: Root, context: Context) {
  const targets = targetsOf(name, pkgs)
  const locks = await listLocks(root)
  const results: Record<string, HoldResult> = {}
  for (const [target] of targets)
    results[target] = Object.hasOwn(locks, target)
      ? report(target, true, `Package ${target} is already set to be held.`)
      : report(target, true, `Package ${target} is now being held.`, { new: 'hold', old: '' })
  const added = targets.filter(([target]) => !Object.hasOwn(locks, target))
  if (added.length > 0) await zypper(['al', ...added.map((one) => withVersion(...one))], context, { root })
  return results
}

/** Let held packages be changed again. */
export async function unhold(name: string | undefined, pkgs: unknown, root: Root, context: Context) {
  const locks = await listLocks(root)
  const results: Record<string, HoldResult> = {}
  const removed: string[] = []
  for (const [target, version] of targetsOf(name, pkgs)) {
    const lock = Object.hasOwn(locks, target) ? locks[target] : undefined
    const held = lock?.version?.replace(/^[= ]+/, '')
    if (!lock) results[target] = report(target, true, `Package ${target} was already unheld.`)
    else if (version && held !== version)
      results[target] = report(
        target,
        false,
        `Unable to unhold package ${target} as it is held with the other version.`,
      )
    else {
      removed.push(withVersion(target, held))
      results[target] = report(target, true, `Package ${target} is no longer held.`, { new: '', old: 'hold' })
    }
  }
  if (removed.length > 0) await zypper(['rl', ...removed], context, { root })
  return results
}

/** List the installed packages that are held: with `full` as `name-epoch:version.*`, else their names. */
export async function listHolds(
  pattern: string | undefined,
  full: boolean,
  root: Root,
  context: Context,
): Promise<string[]> {
  const fits = pattern === undefined ? undefined : pythonRegExp(`(?:${pattern})-\\S+`)
  const holds: string[] = []
  for (const name of await lockedPackages(root, context)) {
    const infos = await packageInfos([name], { attr: 'edition,epoch', all_versions: true, root }, context)
    for (const { epoch = 0, edition } of [infos[name] ?? []].flat()) {
      const hold = `${name}-${epoch}:${edition}.*`
      const shown = full ? hold : name
      if (!holds.includes(shown) && (fits?.matches(hold) ?? true)) holds.push(shown)
    }
  }
  return holds
}

async function lockedPackages(root: Root, context: Context): Promise<Set<string>> {
  const found = new Set<string>()
  for (const [name, { type = 'package', case_sensitive = 'on' }] of Object.entries(await listLocks(root))) {
    if (type !== 'package') continue
    const options = {
      match: name.includes('*') ? undefined : ('exact' as const),
      case_sensitive: case_sensitive === 'on',
      installed_only: true,
      details: true,
    }
    try {
      for (const one of Object.keys(await search(name, options, root, context))) found.add(one)
    } catch (error) {
      // None of the installed packages has that name.
      if (!(error instanceof CommandExecutionError)) throw error
    }
  }
  return found
}
