import { existsSync, linkSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { emptyStore } from './pages.ts'
import { roomAt } from './room.ts'
import { StoreFile } from './tree.ts'

/**
 * What is looked at before LMDB opens a file. It ends the process, instead of reporting an error, when the file is not
 * one of its own or the disk is full at the wrong moment.
 */

/** LMDB's lock table for 126 readers. */
const LOCK_BYTES = 8272
const ROOM_FOR_NEW_STORE = 2 ** 20

/** Why the file cannot be opened by LMDB, or undefined if it can. A missing file is a new store. */
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
 * Make a store without records where there is none, and its lock table, in that order of appearance: table, then store.
 * LMDB would make the store in several steps, and map a table without room for it into memory: a fatal signal. A table
 * that is there belongs to another file, which may still be open.
 */
export function makeStore(path: string): void {
  if (existsSync(path)) return
  if (roomAt(path) < ROOM_FOR_NEW_STORE) throw new Error('there is no room left on the disk')
  makeLock(path)
  createWhole(path, emptyStore())
}

/** A new lock table, for processes that open the file from now on. */
export function makeLock(path: string): void {
  const lock = `${path}-lock`
  rmSync(lock, { force: true })
  createWhole(lock, Buffer.alloc(LOCK_BYTES))
}

/** The file appears with its whole content, or another process has made it. */
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
