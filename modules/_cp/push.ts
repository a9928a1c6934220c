import { open, readdir, realpath, rm, stat } from 'node:fs/promises'
import { basename, isAbsolute, join, normalize } from 'node:path'
import { CommandExecutionError, type Context, fnmatch } from 'salt-ts'

export interface PushOptions {
  readonly keep_symlinks?: boolean
  readonly upload_path?: string | undefined
  readonly remove_source?: boolean
}

/** Send a file to the master, piece by piece (`_file_recv`). False, and the reason in the log, if that does not work. */
export async function pushFile(path: string, options: PushOptions, context: Context): Promise<boolean> {
  const { keep_symlinks = false, upload_path, remove_source = false } = options
  const source = isPlain(path) ? await sourceOf(path, keep_symlinks) : undefined
  if (source === undefined || !isPlain(`/${upload_path ?? ''}`)) {
    context.log.error(`cp.push: ${path} is no absolute path of a file, or upload_path leads upwards`)
    return false
  }
  const parts = normalize(upload_path || source)
    .split('/')
    .filter(Boolean)
  if (!(await send(source, parts, context))) {
    context.log.error(
      `cp.push: the master did not take ${path}. file_recv must be true there, and file_recv_max_size large enough.`,
    )
    return false
  }
  if (remove_source) await rm(source)
  return true
}

const isPlain = (path: string): boolean => isAbsolute(path) && !path.split('/').includes('..')

async function sourceOf(path: string, asItIs: boolean): Promise<string | undefined> {
  const real = asItIs ? path : await realpath(path).catch(() => path)
  return (await stat(real).catch(() => undefined))?.isFile() ? real : undefined
}

async function send(
  source: string,
  path: readonly string[],
  { minion, id, opts }: Context,
): Promise<boolean> {
  const file = await open(source)
  try {
    const { size } = await file.stat()
    const piece = Buffer.allocUnsafe(
      typeof opts.file_buffer_size === 'number' ? opts.file_buffer_size : 262_144,
    )
    for (let loc = 0; ; ) {
      const { bytesRead } = await file.read(piece, 0, piece.length, loc)
      if (bytesRead === 0 && loc > 0) return true
      const data = Buffer.from(piece.subarray(0, bytesRead))
      const answer = await minion
        .request({ cmd: '_file_recv', id, path, size, loc, data })
        .catch((error: Error) => Promise.reject(new CommandExecutionError(error.message)))
      if (answer !== true) return false
      if (bytesRead === 0) return true
      loc += bytesRead
    }
  } finally {
    await file.close()
  }
}

/** Send the files below a folder whose names match; stops at the first that is not taken. */
export async function pushFolder(
  path: string,
  glob: string | undefined,
  upload_path: string | undefined,
  context: Context,
): Promise<boolean> {
  if (!isPlain(path)) return false
  const real = await realpath(path).catch(() => path)
  if ((await stat(real).catch(() => undefined))?.isFile()) return pushFile(real, { upload_path }, context)
  const entries = await readdir(real, { recursive: true, withFileTypes: true }).catch(() => [])
  const found = entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => glob === undefined || fnmatch(basename(file), glob))
  for (const file of found) {
    const upload = upload_path && join('/', upload_path, file.slice(real.length))
    if (!(await pushFile(file, { upload_path: upload }, context))) return false
  }
  return found.length > 0
}
