/** Tells text files from binary ones, and reads the text. */
import type { FileHandle } from 'node:fs/promises'
import { CommandExecutionError } from 'salt-ts'
import type { OpenedFile } from '#internal'

/** Number of bytes at the beginning that decide whether a file is text. */
const LOOKED_AT = 8192
/** Longer files are not read. */
const MAX_BYTES = 16 * 1024 * 1024

/** Whether the beginning of the file is UTF-8 without NUL. */
export async function looksLikeText(handle: FileHandle): Promise<boolean> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(LOOKED_AT), 0, LOOKED_AT, 0)
  return textOf(buffer.subarray(0, bytesRead), { more: true }) !== undefined
}

/** Read the whole text of a file; undefined if it is not text. */
export async function readText({ handle, path, stat }: OpenedFile): Promise<string | undefined> {
  if (!(await looksLikeText(handle))) return undefined
  if (stat.size > MAX_BYTES)
    throw new CommandExecutionError(
      `${path} has ${stat.size} bytes; files longer than ${MAX_BYTES} bytes are not read.`,
    )
  return textOf(await handle.readFile())
}

/** Decode UTF-8; undefined if it is not text. With `more`, the last character may be cut off. */
function textOf(bytes: Uint8Array, { more = false } = {}): string | undefined {
  if (bytes.includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: more })
  } catch {
    return undefined
  }
}
