import { createHash } from 'node:crypto'
import { mkdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { CommandExecutionError, type Context } from 'salt-ts'
import { takeLock } from './lock-file.ts'

const WAIT_MS = 60_000

/**
 * Change something that is read first while no other job of this minion changes it: a file by its path, or another thing by a
 * name. The locks are in the minion's cache; where none can be made, such as on a full disk, the change is made without.
 * @throws CommandExecutionError if another job does not come to an end with it
 */
export async function inTurn<T>(what: string, context: Context, work: () => Promise<T>): Promise<T> {
  const release = await taken(what, context)
  try {
    return await work()
  } finally {
    await release?.()
  }
}

async function taken(what: string, { opts, signal }: Context) {
  if (typeof opts.cachedir !== 'string') return undefined
  const folder = join(opts.cachedir, 'turns')
  const key = createHash('sha256').update(await realpath(what).catch(() => what))
  const lock = join(folder, key.digest('hex'))
  const tooLong = () =>
    new CommandExecutionError(
      `Another job has been changing ${what} for more than ${WAIT_MS / 1000} seconds. Nothing was changed. See saltutil.running, and try again when that job has ended`,
    )
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    return await takeLock(lock, { waitMs: WAIT_MS, tooLong, signal })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).errno === undefined) throw error
    return undefined
  }
}
