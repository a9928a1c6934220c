import {
  closeSync,
  existsSync,
  linkSync,
  openSync,
  readSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'

/**
 * What is looked at before LMDB opens a file. It ends the process, instead of reporting an error, when the file is not
 * one of its own or the disk is full at the wrong moment.
 */

/** LMDB's lock table for 126 readers. */
const LOCK_BYTES = 8272
const ROOM_FOR_NEW_STORE = 2 ** 20

/** The two meta pages: an LMDB file starts with both. */
const META = { flags: 18, isMeta: 0x08, magic: 24, version: 28, pageSize: 48 } as const
const MAGIC = 0xbeefc0de
const VERSION = 2

/** Why the file cannot be opened by LMDB, or undefined if it can. A missing or empty file is a new store. */
export function damageOf(path: string): string | undefined {
  if (isNew(path)) return undefined
  const first = readPage(path, 0)
  const pageSize = first.readUInt32LE(META.pageSize)
  if (!isMeta(first) || pageSize < 512 || pageSize > 65_536) return 'its first page is not that of a store'
  return isMeta(readPage(path, pageSize)) ? undefined : 'its second page is not that of a store'
}

function readPage(path: string, position: number): Buffer {
  const head = Buffer.alloc(64)
  const file = openSync(path, 'r')
  try {
    readSync(file, head, 0, head.length, position)
  } finally {
    closeSync(file)
  }
  return head
}

function isMeta(head: Buffer): boolean {
  return (
    (head.readUInt16LE(META.flags) & META.isMeta) !== 0 &&
    head.readUInt32LE(META.magic) === MAGIC &&
    head.readUInt32LE(META.version) === VERSION
  )
}

/** Take the room the lock table will need: LMDB maps it into memory, where a full disk is a fatal signal. */
export function reserveRoom(path: string): void {
  const lock = `${path}-lock`
  if (!existsSync(lock)) createWhole(lock, Buffer.alloc(LOCK_BYTES))
  if (isNew(path) && roomAt(path) < ROOM_FOR_NEW_STORE) throw new Error('there is no room left on the disk')
}

/** Free bytes on the disk of a file. */
export function roomAt(path: string): number {
  const { bavail, bsize } = statfsSync(dirname(path))
  return bavail * bsize
}

function isNew(path: string): boolean {
  return !existsSync(path) || statSync(path).size === 0
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
