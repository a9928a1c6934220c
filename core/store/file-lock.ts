import { randomUUID } from 'node:crypto'
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { SaltError } from '../base/errors.ts'
import { identityOf, isRunning, type ProcessIdentity, readIdentity } from '../process/process-identity.ts'

const MAX_TRIES = 2400
const PAUSE_MS = 25

/**
 * Run `work` under a lock that only one process at a time has for a file. Waiting blocks the event loop, so `work` must be
 * short. The lock of a process that has died is removed.
 * @throws SaltError STORE_FAILED if another process takes too long; otherwise the error of `work`
 */
export function withFileLock<T>(path: string, work: () => T): T {
  const release = acquire(`${path}.turn`)
  try {
    return work()
  } finally {
    release()
  }
}

/** Acquire the lock: a file with the identity of its process. It is created by a link, so it always has its content. */
function acquire(lock: string): () => void {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    if (tryToAcquire(lock)) return () => rmSync(lock, { force: true })
    const holder = holderOf(lock)
    if (holder && !isRunning(holder)) removeStaleLock(lock)
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS)
  }
  throw new SaltError(
    'STORE_FAILED',
    `Process ${holderOf(lock)?.pid} does not finish creating or repairing a store. End it, remove the file ${lock}, and start again.`,
  )
}

function tryToAcquire(lock: string): boolean {
  const own = `${lock}.${randomUUID()}`
  try {
    writeFileSync(own, JSON.stringify(identityOf(process.pid)), { mode: 0o600 })
    linkSync(own, lock)
    return true
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
    return false
  } finally {
    rmSync(own, { force: true })
  }
}

/** Return the process that has the lock; undefined if it was released. A malformed lock belongs to no process. */
function holderOf(lock: string): ProcessIdentity | undefined {
  try {
    return readHolder(lock)
  } catch {
    return undefined
  }
}

function readHolder(lock: string): ProcessIdentity {
  const text = readFileSync(lock, 'utf8')
  try {
    return readIdentity(JSON.parse(text)) ?? NOBODY
  } catch {
    return NOBODY
  }
}

const NOBODY: ProcessIdentity = { pid: 0 }

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code

/** Remove the lock of a dead process. If another process has acquired the lock meanwhile, it is restored. */
function removeStaleLock(lock: string): void {
  const aside = `${lock}.${randomUUID()}`
  try {
    renameSync(lock, aside)
    if (isRunning(readHolder(aside))) linkSync(aside, lock)
  } catch {
    // It was released, or another process has acquired it.
  } finally {
    rmSync(aside, { force: true })
  }
}
