import { chmod, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { auditStorePath } from '../../auth/audit/index.ts'
import { tokenStoreFile } from '../../auth/index.ts'
import type { Log } from '../../author/context.ts'
import type { SaltError } from '../../base/errors.ts'
import { makeDirectory } from '../../base/files/directory.ts'
import { Catalogues } from '../../cache/catalogues.ts'
import { Mine } from '../../cache/mine.ts'
import { MinionData } from '../../cache/minion-data.ts'
import { MinionStarts } from '../../cache/minion-starts.ts'
import { eventOutboxDirectory, jobCacheDirectory, minionDataDirectory } from '../../config/cachedir.ts'
import type { MasterConfig } from '../../config/index.ts'
import { JobCache } from '../../jobs/job-cache.ts'
import { Publications } from '../../jobs/publications.ts'
import { AUTOSIGN_FOLDER, keyFolders, SessionKeys } from '../../keys/index.ts'
import type { Logger } from '../../log/index.ts'
import { Outbox } from '../../outbox/outbox.ts'
import { checkAfterCrash } from '../../store/index.ts'
import { ReplayGuard } from '../worker/replay-guard.ts'

/** Lets other users pass through a directory to their own file without listing it. */
const PASSAGE = 0o011

/**
 * Create the directories of a master, accessible to its user only, and those in `pki_dir` where scripts put keys. With `publisher_acl`, other users can pass through them
 * to their key files and the event socket.
 */
export async function makeDirectories(config: MasterConfig): Promise<void> {
  const ofKeys = [...Object.values(keyFolders), AUTOSIGN_FOLDER].map((name) => join(config.pki_dir, name))
  for (const directory of [config.pki_dir, ...ofKeys, config.cachedir, config.sock_dir])
    await makeDirectory(directory)
  if (Object.keys(config.publisher_acl).length === 0) return
  for (const directory of [config.cachedir, config.sock_dir]) {
    const { mode } = await stat(directory)
    if ((mode & PASSAGE) !== PASSAGE) await chmod(directory, (mode & 0o777) | PASSAGE)
  }
}

/** Log damage that a store finds in itself. */
export const logDamageTo = (log: Log) => (error: SaltError) => log.error(error.message)

/**
 * Check the stores if the last master here did not shut down cleanly. That ends with `signal`. Returns the function to call at a clean
 * shutdown.
 */
export function checkMasterStores(
  config: MasterConfig,
  log: Logger,
  signal: AbortSignal,
): Promise<() => Promise<void>> {
  return checkAfterCrash({
    marker: join(config.cachedir, '.running'),
    stores: [
      JobCache.path(jobCacheDirectory(config)),
      Publications.path(config),
      MinionData.path(minionDataDirectory(config)),
      Catalogues.path(minionDataDirectory(config)),
      Mine.path(minionDataDirectory(config)),
      MinionStarts.path(minionDataDirectory(config)),
      SessionKeys.path(config.cachedir),
      Outbox.path(eventOutboxDirectory(config)),
      ReplayGuard.path(config),
      ...[tokenStoreFile(config) ?? []].flat(),
      auditStorePath(config),
    ],
    onDamage: logDamageTo(log),
    onCrash: () =>
      log.info('The last salt-master here did not shut down cleanly: its stores are checked first.'),
    onWait: (sentence) => log.warn(sentence),
    signal,
  })
}
