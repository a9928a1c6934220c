import { randomUUID } from 'node:crypto'
import { readlinkSync, renameSync, symlinkSync, unlinkSync } from 'node:fs'
import { SaltError } from '../base/errors.ts'
import { identityOf, isRunning, type ProcessIdentity } from '../process/process-identity.ts'

const MAX_WAIT_MS = 60_000
const MAX_PAUSE_MS = 25

/**
 * Run `work` under a lock that only one process at a time has for a file. Waiting blocks the event loop, so `work` must be
 * short. The lock of a process that has died is removed.
 * @throws SaltError STORE_FAILED if another process takes too long; otherwise the error of `work`
 */
export function withFileLock<T>(path: string, work: () => T): T {
  return releasing(acquire(`${path}.turn`, MAX_WAIT_MS), work)
}

/**
 * Run `work` under the lock if it can be acquired within `waitMs`, otherwise without it: on a full disk, in a directory where
 * this process may not create files, and while a process that has the lock is stopped.
 * @throws the error of `work`
 */
export function withFileLockIfPossible<T>(path: string, waitMs: number, work: () => T): T {
  return releasing(acquireIfPossible(`${path}.turn`, waitMs), work)
}

function releasing<T>(release: (() => void) | undefined, work: () => T): T {
  try {
    return work()
  } finally {
    release?.()
  }
}

function acquireIfPossible(lock: string, waitMs: number): (() => void) | undefined {
  try {
    return acquire(lock, waitMs)
  } catch {
    return undefined
  }
}

/**
 * Acquire the lock: a symbolic link whose target is the identity of its process, so it always has its content. With fewer than 60
 * characters ext4 keeps the target in the inode, and making and removing the link takes a quarter of the time.
 */
function acquire(lock: string, waitMs: number): () => void {
  const start = performance.now()
  for (let pause = 1; performance.now() - start < waitMs; ) {
    if (tryToAcquire(lock)) return () => remove(lock)
    const holder = holderOf(lock)
    if (holder && !isRunning(holder)) removeStaleLock(lock)
    else {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pause)
      pause = Math.min(2 * pause, MAX_PAUSE_MS)
    }
  }
  throw new SaltError(
    'STORE_FAILED',
    `Process ${holderOf(lock)?.pid} does not finish opening or repairing a store. End it, remove the file ${lock}, and start again.`,
  )
}

function remove(lock: string): void {
  try {
    unlinkSync(lock)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
}

let identity: ProcessIdentity | undefined

function tryToAcquire(lock: string): boolean {
  try {
    identity ??= identityOf(process.pid)
    symlinkSync(`${identity.pid} ${identity.born ?? ''}`, lock)
    return true
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
    return false
  }
}

/** Return the process that has the lock; undefined if it was released. A malformed lock belongs to no process. */
function holderOf(lock: string): ProcessIdentity | undefined {
  try {
    const [pid, born] = readlinkSync(lock).split(' ')
    return { pid: Number(pid), ...(born && { born }) }
  } catch (error) {
    return codeOf(error) === 'ENOENT' ? undefined : NOBODY
  }
}

const NOBODY: ProcessIdentity = { pid: 0 }

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code

/** Remove the lock of a dead process. If another process has acquired the lock meanwhile, it is restored. */
function removeStaleLock(lock: string): void {
  const aside = `${lock}.${randomUUID()}`
  try {
    renameSync(lock, aside)
    if (isRunning(holderOf(aside) ?? NOBODY)) symlinkSync(readlinkSync(aside), lock)
  } catch {
    // It was released, or another process has acquired it.
  } finally {
    remove(aside)
  }
}
