import { randomUUID } from 'node:crypto'
import { lstat, readlink, rename, rm, symlink } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { bornAt } from './born-at.ts'

interface LockOptions {
  /** How long one holder may have the lock, until `tooLong` is thrown. */
  readonly waitMs: number
  readonly tooLong: () => Error
  /** Ends the waiting. */
  readonly signal?: AbortSignal
}

/**
 * Take a lock: a symbolic link whose target tells the process that holds it. Waits for any number of holders before it, and
 * removes the lock of a process that has ended. Rejects with the system's error if it cannot be made.
 * @returns the function that releases it
 */
export async function takeLock(
  path: string,
  { waitMs, tooLong, signal }: LockOptions,
): Promise<() => Promise<void>> {
  let holder: string | undefined
  let since = Date.now()
  while (!(await take(path))) {
    signal?.throwIfAborted()
    const seen = await lockAt(path)
    if (seen !== holder) [holder, since] = [seen, Date.now()]
    if (Date.now() - since > waitMs) throw tooLong()
    await wait(10)
  }
  return () => rm(path, { force: true })
}

/** Identify the current lock: each holder creates a new link. */
async function lockAt(path: string): Promise<string | undefined> {
  const found = await lstat(path, { bigint: true }).catch(() => undefined)
  return found && `${found.ino}:${found.mtimeNs}`
}

async function take(path: string): Promise<boolean> {
  try {
    await symlink(`${process.pid} ${await bornAt(process.pid)}`, path)
    return true
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause
    if (await isAbandoned(path)) await removeAbandoned(path)
    return false
  }
}

/** The holder is gone if no process has its pid, or if the process with its pid started at another time. */
async function isAbandoned(path: string): Promise<boolean> {
  const text = await readlink(path).catch((error: NodeJS.ErrnoException) =>
    error.code === 'ENOENT' ? undefined : '',
  )
  if (text === undefined) return false
  const [pid, born] = text.split(' ')
  return born === undefined || born !== (await bornAt(Number(pid)))
}

/** Another process may have removed the lock meanwhile and taken it: its lock is put back. */
async function removeAbandoned(path: string): Promise<void> {
  const aside = `${path}.${randomUUID()}`
  try {
    await rename(path, aside)
    if (!(await isAbandoned(aside))) await symlink(await readlink(aside), path)
  } catch {
    // It was released, or another process has taken it.
  } finally {
    await rm(aside, { force: true })
  }
}
