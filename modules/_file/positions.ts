/** Reading and writing at an offset of a file. */
import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { CommandExecutionError, SaltInvocationError } from 'salt-ts'
import { attempt, expandHome } from './paths.ts'
import { heldFile, refuseForeignName, withPlace } from './place.ts'
import { MAX_CONTENT_BYTES, withFile } from './reading.ts'
import { writeAll } from './text.ts'

function checkOffset(offset: number): void {
  if (offset < 0) throw new CommandExecutionError('[Errno 22] Invalid argument')
}

/** Read bytes from an offset of a file or device. */
export async function readAt(given: string, size: number, offset: number): Promise<Buffer> {
  checkOffset(offset)
  if (size < 0) throw new CommandExecutionError('[Errno 22] Invalid argument')
  if (size > MAX_CONTENT_BYTES)
    throw new SaltInvocationError(
      `size is ${size}; at most ${MAX_CONTENT_BYTES} bytes are read at once. Call again with a further offset`,
    )
  return withFile(
    await expandHome(given),
    async (file) => {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(size), 0, size, offset)
      return buffer.subarray(0, bytesRead)
    },
    { devices: true },
  )
}

/** Write text at an offset of a file, and return the number of bytes. */
export async function writeAt(given: string, data: string, offset: number): Promise<number> {
  checkOffset(offset)
  return withWritable(await expandHome(given), async (file) => {
    const bytes = Buffer.from(data)
    await writeAll(file, bytes, offset)
    await file.sync()
    return bytes.length
  })
}

/** Cut a file, or extend it with zeros, to a length. */
export async function truncateFile(given: string, length: number): Promise<null> {
  await withWritable(await expandHome(given), (file) => file.truncate(length))
  return null
}

const withWritable = <T>(path: string, work: (file: FileHandle) => Promise<T>): Promise<T> =>
  withPlace(path, async (place) => {
    refuseForeignName(place)
    const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants
    const file = await attempt(open(heldFile(place).at, O_WRONLY | O_NONBLOCK | O_NOCTTY), path)
    try {
      return await attempt(work(file), path)
    } finally {
      await file.close()
    }
  })
