import type { Log } from '../author/context.ts'
import { makeDirectory } from '../base/files/directory.ts'
import type { MinionConfig } from '../config/index.ts'
import { type DirectoryLock, lockDirectory } from '../transport/directory-lock.ts'

/** Make the directories of a minion and lock its `cachedir`, since two minions would overwrite each other's files. */
export async function lockCachedir(config: MinionConfig, log: Log): Promise<DirectoryLock> {
  for (const directory of [config.cachedir, config.sock_dir]) await makeDirectory(directory)
  return lockDirectory({
    directory: config.cachedir,
    program: 'salt-minion',
    id: config.id,
    onProblem: (sentence) => log.warn(sentence),
  })
}
