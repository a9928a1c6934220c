import { open, realpath, rm, stat } from 'node:fs/promises'
import { basename, isAbsolute, join, normalize } from 'node:path'
import { CommandExecutionError, type Context } from 'salt-ts'
import { fnmatch } from '#internal'
import { filesBelow } from './files-below.ts'

export interface PushOptions {
  readonly keep_symlinks?: boolean
  readonly upload_path?: string | undefined
  readonly remove_source?: boolean
}

/** Send a file to the master in pieces (`_file_recv`). @throws CommandExecutionError with the reason */
export async function pushFile(path: string, options: PushOptions, context: Context): Promise<true> {
  const { keep_symlinks = false, upload_path, remove_source = false } = options
  checkPlain(path)
  if (upload_path) checkPlain(`/${upload_path}`)
  const source = keep_symlinks ? path : await realpath(path).catch(() => path)
  if (!(await stat(source).catch(() => undefined))?.isFile())
    throw new CommandExecutionError(`There is no file ${path} to push.`)
  const parts = normalize(upload_path || source)
    .split('/')
    .filter(Boolean)
  await send(source, parts, context)
  if (remove_source) await rm(source)
  return true
}

function checkPlain(path: string): void {
  if (isAbsolute(path) && !path.split('/').includes('..')) return
  throw new CommandExecutionError(`${path} must be an absolute path without '..'.`)
}

async function send(source: string, path: readonly string[], { minion, id, opts }: Context): Promise<void> {
  const file = await open(source)
  try {
    const { size } = await file.stat()
    const piece = Buffer.allocUnsafe(
      typeof opts.file_buffer_size === 'number' ? opts.file_buffer_size : 262_144,
    )
    for (let loc = 0; ; ) {
      const { bytesRead } = await file.read(piece, 0, piece.length, loc)
      if (bytesRead === 0 && loc > 0) return
      const data = Buffer.from(piece.subarray(0, bytesRead))
      const answer = await minion
        .request({ cmd: '_file_recv', id, path, size, loc, data, reasons: true })
        .catch((error: Error) => Promise.reject(new CommandExecutionError(error.message)))
      if (answer !== true) throw new CommandExecutionError(refusal(source, answer))
      if (bytesRead === 0) return
      loc += bytesRead
    }
  } finally {
    await file.close()
  }
}

/** Describe why the master refused a file. A Python Salt master returns false, without a reason. */
function refusal(source: string, answer: unknown): string {
  const { refused = 'set file_recv: True in its configuration, and check file_recv_max_size' } = (answer ||
    {}) as {
    refused?: string
  }
  return `The master did not accept ${source}: ${refused}.`
}

/** Send the files below a folder whose names match `glob`. Stops at the first one that is refused. */
export async function pushFolder(
  path: string,
  glob: string | undefined,
  upload_path: string | undefined,
  context: Context,
): Promise<true> {
  checkPlain(path)
  const real = await realpath(path).catch(() => path)
  if ((await stat(real).catch(() => undefined))?.isFile()) return pushFile(real, { upload_path }, context)
  const found = (await filesBelow(real)).filter((file) => glob === undefined || fnmatch(basename(file), glob))
  if (found.length === 0)
    throw new CommandExecutionError(
      `There is no file${glob ? ` that matches ${glob}` : ''} below ${path} to push.`,
    )
  for (const file of found) {
    const upload = upload_path && join('/', upload_path, file.slice(real.length))
    await pushFile(file, { upload_path: upload }, context)
  }
  return true
}
