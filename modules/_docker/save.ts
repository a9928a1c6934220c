import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, isAbsolute } from 'node:path'
import { CommandExecutionError, type Context, p, SaltInvocationError } from 'salt-ts'
import { fileProblem, fillFileAtomic } from '#internal'
import { isFolder, statOf } from '../_file/paths.ts'
import { dockerStream, type Json } from './api.ts'
import { compressionOf, requireCompression, writeCompressed } from './compress.ts'
import { inUnits } from './describe.ts'

/** The parameters of functions that write an archive to a file of the minion. */
export const saveParams = {
  name: p.string(),
  path: p.string(),
  overwrite: p.default(p.boolean(), false),
  makedirs: p.default(p.boolean(), false),
  compression: p.optional(p.string()),
  push: p.default(p.boolean(), false),
}

interface Saved {
  /** Path of the file. */
  readonly path: string
  readonly overwrite: boolean
  readonly makedirs: boolean
  readonly compression?: string | undefined
  readonly push: boolean
}

interface Archive {
  /** Permission bits of a new file that is not compressed. */
  readonly mode: number
  /** Return the path of the archive in Docker's interface. */
  address(): Promise<string>
  /** The beginning of the message if it fails; the reason follows. */
  readonly failure: string
}

/** Write an archive of Docker to a file, compressed on the way: the file is replaced once the archive is complete. */
export async function saveArchive(given: Saved, archive: Archive, context: Context): Promise<Json> {
  const { path } = given
  if (!isAbsolute(path)) throw new SaltInvocationError(`Path '${path}' is not absolute`)
  const old = await statOf(path)
  if (old && !given.overwrite) throw new CommandExecutionError(`${path} already exists`)
  if (old && !old.isFile())
    throw new CommandExecutionError(`${path} is no regular file; give the path of one.`)
  const compression = compressionOf(path, given.compression)
  await requireCompression(compression)
  await requireFolder(dirname(path), given.makedirs)
  const source = await archive.address()
  const since = Date.now()
  const mode = old ? old.mode & 0o777 : compression ? NEW_FILE & ~process.umask() : archive.mode
  try {
    await fillFileAtomic(
      path,
      async (file) => {
        const from = await dockerStream('GET', source, context)
        const write = (bytes: AsyncIterable<Uint8Array>) => writeFile(file, bytes)
        await writeCompressed(from, write, compression, context.signal)
      },
      { mode },
    )
  } catch (error) {
    context.signal.throwIfAborted()
    throw new CommandExecutionError(`${archive.failure}: ${fileProblem(error)}`)
  }
  const { size: Size } = (await statOf(path))!
  return {
    Time_Elapsed: (Date.now() - since) / 1000,
    Path: path,
    Size,
    Size_Human: inUnits(Size),
    ...(given.push && { Push: await context.call('cp.push', { path }) }),
  }
}

/** The mode of a new file, less the umask. */
export const NEW_FILE = 0o666

async function requireFolder(folder: string, makedirs: boolean): Promise<void> {
  if (await isFolder(folder)) return
  if (!makedirs)
    throw new CommandExecutionError(
      `Parent dir ${folder} of destination path does not exist. Use makedirs=True to create it.`,
    )
  await mkdir(folder, { recursive: true }).catch((error) => {
    throw new CommandExecutionError(`Unable to make parent dir ${folder}: ${fileProblem(error)}`)
  })
}
