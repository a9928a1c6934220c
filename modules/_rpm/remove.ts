import type { Context } from 'salt-ts'
import { fnmatch } from '#internal'
import { type Changes, changesBetween, problem } from '../_pkg/changes.ts'
import { withoutEpoch } from '../_pkg/comparison.ts'
import type { Targets } from '../_pkg/targets.ts'
import { splitArch } from './arch.ts'
import { forgetInstalled, listJoined } from './installed.ts'
import { runManager } from './manager.ts'

/** Remove packages, of which names may be globs, and return the changes. */
export async function removePackages(
  targets: Targets | undefined,
  splits: boolean,
  context: Context,
): Promise<Changes> {
  const old = await listJoined(context)
  const given = targets?.from === 'repository' ? [...targets.packages] : []
  const known = given.flatMap(([name, version]) =>
    (name.includes('*') ? Object.keys(old).filter((one) => fnmatch(one, name)) : [name]).map(
      (one) => [one, version] as const,
    ),
  )
  const words = known.flatMap(([name, version]) => wordFor(name, version, old[name], splits))
  if (words.length === 0) return {}
  const { retcode, stdout, stderr } = await runManager(['-y', 'remove', ...words], context)
  forgetInstalled(context)
  const changes = changesBetween(old, await listJoined(context))
  if (retcode === 0) return changes
  throw problem('Error occurred removing package(s)', { errors: [stderr || stdout], changes })
}

// A version that is not installed is none to remove.
function wordFor(name: string, version: string | null, current: string | undefined, splits: boolean) {
  if (current === undefined) return []
  if (version === null) return [name]
  if (!current.split(',').includes(version)) return []
  const { name: bare, arch } = splits ? splitArch(name) : { name, arch: null }
  const isForeign = arch !== null && arch !== 'noarch'
  return [`${isForeign ? bare : name}-${withoutEpoch(version)}${isForeign ? `.${arch}` : ''}`]
}
