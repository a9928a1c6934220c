import { chmod, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { auditStorePath } from '../auth/audit/index.ts'
import { tokenStoreFile } from '../auth/index.ts'
import type { Log } from '../author/context.ts'
import { makeDirectory } from '../base/directory.ts'
import type { SaltError } from '../base/errors.ts'
import type { MasterConfig } from '../config/index.ts'
import { Catalogues } from '../jobs/catalogues.ts'
import { JobCache } from '../jobs/job-cache.ts'
import { MinionData } from '../jobs/minion-data.ts'
import { MinionStarts } from '../jobs/minion-starts.ts'
import { jobCacheDirectory, minionDataDirectory } from '../jobs/paths.ts'
import { SessionKeys } from '../keys/index.ts'
import type { Logger } from '../log/index.ts'
import { checkAfterCrash } from '../store/index.ts'
import { ReplayGuard } from './replay-guard.ts'

/** Others may go through it to a file of their own, and see nothing else. */
const PASSAGE = 0o011

/**
 * The directories of a master, for nobody else. Users of `publisher_acl` must be able to reach their key files and the
 * event socket.
 */
export async function makeDirectories(config: MasterConfig): Promise<void> {
  for (const directory of [config.pki_dir, config.cachedir, config.sock_dir]) await makeDirectory(directory)
  if (Object.keys(config.publisher_acl).length === 0) return
  for (const directory of [config.cachedir, config.sock_dir]) {
    const { mode } = await stat(directory)
    if ((mode & PASSAGE) !== PASSAGE) await chmod(directory, (mode & 0o777) | PASSAGE)
  }
}

/** Damage that a store finds in itself is for whoever reads the log. */
export const damageTo = (log: Log) => (error: SaltError) => log.error(error.message)

/** Look at the stores if the last master here did not end in order. Gives what to call when this one does. */
export function checkStores(config: MasterConfig, log: Logger): Promise<() => Promise<void>> {
  return checkAfterCrash({
    marker: join(config.cachedir, '.running'),
    stores: [
      JobCache.path(jobCacheDirectory(config)),
      MinionData.path(minionDataDirectory(config)),
      Catalogues.path(minionDataDirectory(config)),
      MinionStarts.path(minionDataDirectory(config)),
      SessionKeys.path(config.cachedir),
      ReplayGuard.path(config),
      ...[tokenStoreFile(config) ?? []].flat(),
      auditStorePath(config),
    ],
    onDamage: damageTo(log),
    onCrash: () =>
      log.info('The last salt-master here did not end in order: its stores are looked at first.'),
    onWait: (sentence) => log.warn(sentence),
  })
}
