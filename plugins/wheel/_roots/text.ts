/** Whether files are text, and what it says. */
import type { FileHandle } from 'node:fs/promises'
import { CommandExecutionError, type OpenedFile } from 'salt-ts'

/** So many bytes at the beginning show whether a file is text. */
const LOOKED_AT = 8192
/** What is longer is no file that people write. Bytes. */
const LONGEST = 16 * 1024 * 1024

/** Text is UTF-8 without NUL, as far as its beginning shows. */
export async function looksLikeText(handle: FileHandle): Promise<boolean> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(LOOKED_AT), 0, LOOKED_AT, 0)
  return textOf(buffer.subarray(0, bytesRead), { more: true }) !== undefined
}

/** The whole text of a file; undefined if it is none. */
export async function readText({ handle, path, stat }: OpenedFile): Promise<string | undefined> {
  if (!(await looksLikeText(handle))) return undefined
  if (stat.size > LONGEST)
    throw new CommandExecutionError(
      `${path} has ${stat.size} bytes; what is longer than ${LONGEST} is not read.`,
    )
  return textOf(await handle.readFile())
}

/** With `more`, the last character may be cut. */
function textOf(bytes: Uint8Array, { more = false } = {}): string | undefined {
  if (bytes.includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: more })
  } catch {
    return undefined
  }
}
