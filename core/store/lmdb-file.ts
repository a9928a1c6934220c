import { accessSync, constants, existsSync, linkSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { currentUser } from '../base/current-user.ts'
import { SaltError } from '../base/errors.ts'
import { fileProblem } from '../base/files/file-problem.ts'
import { irregularityOf } from '../base/files/regular-file.ts'
import { freeSpaceAt } from './free-space.ts'
import { emptyStore } from './salvage/pages.ts'
import { StoreFile } from './salvage/tree.ts'

/**
 * Checks before LMDB opens a file. LMDB crashes the process, instead of reporting an error, if the file is damaged or the
 * disk is full while it creates one.
 */

/** Size of LMDB's lock table for 126 readers, in bytes. */
const LOCK_BYTES = 8272
const MIN_FREE_BYTES = 2 ** 20

/**
 * Refuse a store whose file or lock table LMDB cannot open: it crashes the process if that is so for the lock table. A dangling link
 * in place of the table is replaced later. Asks the system, instead of opening the table: to close it would release LMDB's locks.
 * @throws SaltError STORE_FAILED
 */
export function refuseUnusable(path: string): void {
  const lock = `${path}-lock`
  for (const file of existsSync(lock) ? [path, lock] : [path]) {
    const irregularity = irregularityOf(file)
    if (irregularity) throw unusable(path, `${file} ${irregularity}. Correct that, and start again`)
    const problem = existsSync(file) ? accessProblem(file) : undefined
    if (problem) throw unusable(path, `${file} ${problem}`)
  }
}

/** Return why this user cannot read and write a file, with the remedy. */
function accessProblem(path: string): string | undefined {
  try {
    accessSync(path, constants.R_OK | constants.W_OK)
    return undefined
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EACCES') return `cannot be read and written: ${fileProblem(error)}`
    return `may not be read and written by user ${currentUser()}. Run: chown ${currentUser()} ${path}`
  }
}

const unusable = (path: string, reason: string): SaltError =>
  new SaltError('STORE_FAILED', `The store ${path} cannot be opened: ${reason}.`, { path })

/** Return why LMDB cannot open the file; undefined if it can, or the file does not exist. */
export function damageOf(path: string): string | undefined {
  if (!existsSync(path)) return undefined
  if (statSync(path).size === 0) return 'it is empty'
  const file = new StoreFile(path)
  try {
    return file.headDamage() ?? file.lengthDamage()
  } finally {
    file.close()
  }
}

/**
 * Create an empty store if there is none: first its lock table, then the file. LMDB would create the store in several
 * steps, and crash when it maps a table that the disk has no space for. An existing table belongs to another file, which
 * may still be open, so it is replaced.
 */
export function makeStore(path: string): void {
  if (existsSync(path)) return
  if (freeSpaceAt(path) < MIN_FREE_BYTES) throw new Error('there is no space left on the disk')
  makeLock(path)
  createWhole(path, emptyStore())
}

/** Create a new lock table, for processes that open the file from now on. */
export function makeLock(path: string): void {
  const lock = `${path}-lock`
  rmSync(lock, { force: true })
  createWhole(lock, Buffer.alloc(LOCK_BYTES))
}

/** Create a file with its whole content, unless another process has created it. */
function createWhole(path: string, content: Buffer): void {
  const temporary = `${path}.${process.pid}`
  try {
    writeFileSync(temporary, content, { mode: 0o600 })
    linkSync(temporary, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(temporary, { force: true })
  }
}
