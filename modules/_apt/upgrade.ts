/** Upgrades all packages, and removes those that are not needed any more. */
import type { Context } from 'salt-ts'
import { type Changes, changesBetween, problem } from '../_pkg/changes.ts'
import { aptGet, readApt } from './command.ts'
import { conffileOptions } from './install.ts'
import { listAgain, listInstalled } from './installed.ts'

export interface UpgradeOptions {
  readonly dist_upgrade: boolean
  readonly force_conf_new: boolean
  readonly force_yes: boolean
  readonly skip_verify: boolean
  readonly download_only: boolean
  readonly downloadonly: boolean
  readonly allow_downgrades: boolean
}

/** Upgrade all packages, and return the changes. Rejects with them if there are errors. */
export async function upgradeAll(given: UpgradeOptions, context: Context): Promise<Changes> {
  const old = await listInstalled({}, context)
  const result = await aptGet(wordsOf(given), context)
  const changes = changesBetween(old, await listAgain({}, context))
  if (result.retcode === 0) return changes
  throw problem('Problem encountered upgrading packages', { changes, result })
}

function wordsOf(given: UpgradeOptions): string[] {
  const when = (wanted: boolean, ...options: string[]) => (wanted ? options : [])
  return [
    '-q',
    '-y',
    ...conffileOptions(given.force_conf_new),
    ...when(given.force_yes, '--allow-remove-essential', '--allow-change-held-packages'),
    ...when(given.skip_verify || given.force_yes, '--allow-unauthenticated'),
    ...when(given.download_only || given.downloadonly, '--download-only'),
    ...when(given.allow_downgrades || given.force_yes, '--allow-downgrades'),
    given.dist_upgrade ? 'dist-upgrade' : 'upgrade',
  ]
}

const autoremove = (purge: boolean): string[] => [...(purge ? ['--purge'] : []), 'autoremove']

/** List the packages that were installed for others only and are not needed any more. */
export async function unneededPackages(purge: boolean, context: Context): Promise<string[]> {
  const words = ['apt-get', '--assume-no', ...autoremove(purge)] as const
  const { stdout } = await readApt(words, context, { ignoreRetcode: true })
  const [, listed = ''] =
    /The following packages will be REMOVED:.*\n((?:[ \t].*(?:\n|$))*)/.exec(stdout) ?? []
  return listed.split(/\s+/).filter(Boolean).sort()
}

/** Remove the packages that are not needed any more, and return the changes. */
export async function removeUnneeded(purge: boolean, context: Context): Promise<Changes> {
  const old = await listInstalled({}, context)
  await aptGet(['--assume-yes', ...autoremove(purge)], context, { ignoreRetcode: true })
  return changesBetween(old, await listAgain({}, context))
}
