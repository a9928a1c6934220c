import { chmod, mkdir, open, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { Context } from 'salt-ts'

const isFolder = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined))?.isDirectory() ?? false

/** Write small files that `salt-cp` sends. Resolves to a map of path to success, or to Salt's error message. */
export async function receiveFiles(
  files: Readonly<Record<string, unknown>>,
  dest: string,
): Promise<Record<string, boolean> | string> {
  const written: Record<string, boolean> = {}
  for (const [path, data] of Object.entries(files)) {
    const intoFolder = await isFolder(dest)
    if (!intoFolder && basename(path) !== basename(dest) && !(await isFolder(dirname(dest))))
      return 'Destination unavailable'
    const place = intoFolder ? join(dest, basename(path)) : dest
    const content = data instanceof Uint8Array ? data : String(data)
    written[place] = await writeFile(place, content).then(
      () => true,
      () => false,
    )
  }
  return written
}

export interface Chunk {
  readonly dest: string
  /** Base64. Null makes an empty folder. */
  readonly chunk: string | null
  readonly append: boolean
  readonly compressed: boolean
  readonly mode?: number | undefined
}

/**
 * Write a piece of a file that `salt-cp --chunked` sends. Resolves to true, or to the reason why it was not written.
 */
export async function receiveChunk({ dest, chunk, append, compressed, mode }: Chunk, context: Context) {
  try {
    if (chunk === null) return await makeEmptyFolder(dest)
    const bytes = Buffer.from(chunk, 'base64')
    const content = compressed ? gunzipSync(bytes) : bytes
    await mkdir(dirname(dest), { recursive: true })
    const file = await open(dest, append ? 'a' : 'w')
    await file.writeFile(content).finally(() => file.close())
    if (!append && mode !== undefined) await chmod(dest, mode)
    return true
  } catch (error) {
    context.retcode = 1
    return error instanceof Error ? error.message : String(error)
  }
}

async function makeEmptyFolder(dest: string): Promise<true | string> {
  if ((await stat(dest).catch(() => undefined))?.isFile()) return 'Path exists and is a file'
  await mkdir(dest, { recursive: true })
  return true
}
