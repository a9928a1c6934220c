import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { CommandExecutionError } from 'salt-ts'

const MOST_BYTES = 16 * 1024 * 1024

/**
 * Read a file in a place where others may have put something else: a FIFO, from which nothing ever comes, a device that
 * never ends, or a file that fills the memory. Rejects with the system's error if it cannot be opened.
 * @throws CommandExecutionError for what is no regular file, or too large
 */
export async function readRegular(path: string, most = MOST_BYTES): Promise<Buffer> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    return await readOpen(file, path, most)
  } finally {
    await file.close()
  }
}

/** Read an open file, as {@link readRegular} does. */
export async function readOpen(file: FileHandle, path: string, most = MOST_BYTES): Promise<Buffer> {
  if (!(await file.stat()).isFile()) throw new CommandExecutionError(`${path} is not a regular file`)
  const parts: Buffer[] = []
  for (let size = 0; ; ) {
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(65_536), 0, 65_536)
    if (bytesRead === 0) return Buffer.concat(parts)
    size += bytesRead
    if (size > most) throw new CommandExecutionError(`${path} has more than ${most} bytes`)
    parts.push(buffer.subarray(0, bytesRead))
  }
}
