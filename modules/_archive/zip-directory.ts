/** The directory at the end of a ZIP file. */
import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { CommandExecutionError } from 'salt-ts'

export interface ZipMember {
  /** With `/` at the end for a folder. */
  readonly name: string
  readonly isEncrypted: boolean
  readonly isLink: boolean
  readonly isFolder: boolean
}

const END = 0x06054b50
const END_64 = 0x06064b50
const LOCATOR_64 = 0x07064b50
const MEMBER = 0x02014b50
const END_SIZE = 22
const LONGEST_COMMENT = 0xffff
const LOCATOR_SIZE = 20
const TYPE = 0o170000
const FOLDER = 0o040000
const LINK = 0o120000
/** Bytes of a directory with some hundred thousand members. */
const LARGEST_DIRECTORY = 64 * 1024 * 1024

/** Read the members of a ZIP file. Undefined if it is no ZIP file. */
export async function readZipDirectory(path: string): Promise<ZipMember[] | undefined> {
  // A FIFO in its place must not let the job wait for ever.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const found = await file.stat()
    const place = found.isFile() ? await findDirectory(file, found.size) : undefined
    if (!place) return undefined
    if (place.size > LARGEST_DIRECTORY)
      throw new CommandExecutionError(
        `${path} says that its directory has ${place.size} bytes; that is too large`,
      )
    return membersOf(await readAt(file, place.offset, place.size), place.count)
  } finally {
    await file.close()
  }
}

interface Place {
  readonly offset: number
  readonly size: number
  readonly count: number
}

async function findDirectory(file: FileHandle, length: number): Promise<Place | undefined> {
  const tailSize = Math.min(length, END_SIZE + LONGEST_COMMENT + LOCATOR_SIZE)
  const tail = await readAt(file, length - tailSize, tailSize)
  for (let at = tail.length - END_SIZE; at >= 0; at--) {
    if (tail.readUInt32LE(at) !== END) continue
    return (await largeDirectory(file, tail, at - LOCATOR_SIZE, length)) ?? smallDirectory(tail, at, length)
  }
  return undefined
}

function smallDirectory(tail: Buffer, at: number, length: number): Place | undefined {
  const place = {
    count: tail.readUInt16LE(at + 10),
    size: tail.readUInt32LE(at + 12),
    offset: tail.readUInt32LE(at + 16),
  }
  return place.offset + place.size <= length ? place : undefined
}

/** Find the directory of a ZIP64 file, which has sizes of 64 bits. */
async function largeDirectory(
  file: FileHandle,
  tail: Buffer,
  at: number,
  length: number,
): Promise<Place | undefined> {
  if (at < 0 || tail.readUInt32LE(at) !== LOCATOR_64) return undefined
  const start = Number(tail.readBigUInt64LE(at + 8))
  if (start > length) return undefined
  const end = await readAt(file, start, 56)
  if (end.length < 56 || end.readUInt32LE(0) !== END_64) return undefined
  const [count, size, offset] = [32, 40, 48].map((from) => Number(end.readBigUInt64LE(from))) as [
    number,
    number,
    number,
  ]
  return offset + size <= length ? { count, size, offset } : undefined
}

function membersOf(directory: Buffer, count: number): ZipMember[] | undefined {
  const members: ZipMember[] = []
  let at = 0
  while (members.length < count) {
    if (at + 46 > directory.length || directory.readUInt32LE(at) !== MEMBER) return undefined
    const flags = directory.readUInt16LE(at + 8)
    const [nameSize, extraSize, commentSize] = [28, 30, 32].map((from) =>
      directory.readUInt16LE(at + from),
    ) as [number, number, number]
    const type = (directory.readUInt32LE(at + 38) >>> 16) & TYPE
    const name = directory.toString('utf8', at + 46, at + 46 + nameSize)
    members.push({ name, isEncrypted: (flags & 1) === 1, isLink: type === LINK, isFolder: type === FOLDER })
    at += 46 + nameSize + extraSize + commentSize
  }
  return members
}

async function readAt(file: FileHandle, position: number, size: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(size), 0, size, position)
  return buffer.subarray(0, bytesRead)
}
