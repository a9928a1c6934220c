import { randomUUID } from 'node:crypto'
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { SaltError } from '../base/errors.ts'
import { identityOf, isRunning, type ProcessIdentity, readIdentity } from '../base/process-identity.ts'

const TRIES = 2400
const PAUSE_MS = 25

/**
 * Run `work` while no other process does so for the same file, which must be short: waiting blocks. A process that died at
 * it is in nobody's way.
 * @throws SaltError STORE_FAILED when another process takes too long; else what `work` throws
 */
export function inTurn<T>(path: string, work: () => T): T {
  const release = takeTurn(`${path}.turn`)
  try {
    return work()
  } finally {
    release()
  }
}

/** A file with the identity of the process that has the turn. It appears with its content, by a link. */
function takeTurn(lock: string): () => void {
  for (let tries = 0; tries < TRIES; tries++) {
    if (tryToTake(lock)) return () => rmSync(lock, { force: true })
    const holder = holderOf(lock)
    if (holder && !isRunning(holder)) takeAway(lock)
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS)
  }
  throw new SaltError(
    'STORE_FAILED',
    `Process ${holderOf(lock)?.pid} does not finish making or repairing a store. End it, remove the file ${lock}, and start again.`,
  )
}

function tryToTake(lock: string): boolean {
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

/** Undefined if nobody has it any more. What is no identity belongs to no process. */
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

/** Another process may have been faster, and have the turn by now: then it gets it back. */
function takeAway(lock: string): void {
  const aside = `${lock}.${randomUUID()}`
  try {
    renameSync(lock, aside)
    if (isRunning(readHolder(aside))) linkSync(aside, lock)
  } catch {
    // It has gone, or somebody else has it.
  } finally {
    rmSync(aside, { force: true })
  }
}
