/** Files that `salt-cp` sends. They are written where nobody but the owner of the folder can lead the content elsewhere. */
import { constants } from 'node:fs'
import { chmod, mkdir, open, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { CommandExecutionError, type Context } from 'salt-ts'
import { isFolder } from '../_file/paths.ts'
import { type Place, refuseForeignName, withPlace } from '../_file/place.ts'
import { MAX_CONTENT_BYTES } from '../_file/reading.ts'
import { writeContent } from '../_file/text.ts'

/** Write small files that `salt-cp` sends. Resolves to a map of path to success, or to Salt's error message. */
export async function receiveFiles(
  files: Readonly<Record<string, unknown>>,
  dest: string,
  { log }: Pick<Context, 'log'>,
): Promise<Record<string, boolean> | string> {
  const written: Record<string, boolean> = {}
  for (const [path, data] of Object.entries(files)) {
    const intoFolder = await isFolder(dest)
    if (!intoFolder && basename(path) !== basename(dest) && !(await isFolder(parentOf(dest))))
      return 'Destination unavailable'
    const target = intoFolder ? join(dest, basename(path)) : dest
    const content = data instanceof Uint8Array ? data : String(data)
    written[target] = await withPlace(target, (place) => writeContent(place, content)).then(
      () => true,
      (error) => {
        log.error(`${target} was not received: ${messageOf(error)}`)
        return false
      },
    )
  }
  return written
}

/** Return the text before the last slash: for `folder/` the folder itself, for a mere name an empty text. */
function parentOf(dest: string): string {
  const slash = dest.lastIndexOf('/')
  return slash === 0 ? '/' : dest.slice(0, Math.max(slash, 0))
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
    const content = compressed ? gunzipSync(bytes, { maxOutputLength: MAX_CONTENT_BYTES }) : bytes
    await mkdir(dirname(dest), { recursive: true })
    if (append) await withPlace(dest, (place) => appendTo(place, content))
    else {
      await withPlace(dest, (place) => writeContent(place, content))
      if (mode !== undefined) await withPlace(dest, async ({ file }) => file && chmod(file.at, mode))
    }
    return true
  } catch (error) {
    context.retcode = 1
    return messageOf(error)
  }
}

async function appendTo(place: Place, content: Uint8Array): Promise<void> {
  if (!place.file) return writeContent(place, content)
  if (!place.file.stats.isFile()) throw new CommandExecutionError(`${place.path} is not a regular file`)
  refuseForeignName(place)
  const file = await open(place.file.at, constants.O_WRONLY | constants.O_APPEND)
  await file.writeFile(content).finally(() => file.close())
}

async function makeEmptyFolder(dest: string): Promise<true | string> {
  if ((await stat(dest).catch(() => undefined))?.isFile()) return 'Path exists and is a file'
  await mkdir(dest, { recursive: true })
  return true
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
