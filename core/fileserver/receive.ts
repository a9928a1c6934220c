import { constants } from 'node:fs'
import { type FileHandle, mkdir, realpath, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Log } from '../author/context.ts'
import { messageOf } from '../base/errors.ts'
import { makeDirectory } from '../base/files/directory.ts'
import { type OpenedFile, openInside } from '../base/files/open-inside.ts'
import { type SafePath, safeParts } from '../base/files/safe-path.ts'
import type { MinionId } from '../base/minion-id.ts'
import { asBytes, asNumber } from '../wire/bytes.ts'

const MIB = 1024 * 1024

interface ReceiveSettings {
  readonly config: {
    readonly cachedir: string
    readonly file_recv: boolean
    readonly file_recv_max_size: number
  }
  readonly log: Log
  /** Resolves with false for a repeated request, which must not overwrite newer data. */
  isNew(): Promise<boolean>
}

/** A clause with the reason why a file was refused. */
export interface FileRefusal {
  readonly refused: string
}

interface Piece {
  readonly path: SafePath
  readonly data: Buffer
  /** Offset in the file, bytes. */
  readonly at: number
}

/**
 * Answer `_file_recv` (wire protocol §7.2): write a piece of a file that a minion pushes to
 * `<cachedir>/minions/<id>/files/<path>`, readable only by the master. Resolves with true, or with the reason for a refusal.
 * Refused unless `file_recv` is set.
 */
export async function receiveFile(
  load: Readonly<Record<string, unknown>>,
  id: MinionId,
  { config, log, isNew }: ReceiveSettings,
): Promise<true | FileRefusal> {
  if (!config.file_recv) return { refused: 'it accepts no files; set file_recv: True in its configuration' }
  const piece = readPiece(load)
  if (!piece) return { refused: 'the request has no usable path, loc or data' }
  if (piece.at + piece.data.length > config.file_recv_max_size * MIB) {
    const refused = `it is larger than ${config.file_recv_max_size} MB (file_recv_max_size)`
    log.error(`Refused the file ${piece.path} of ${id}: ${refused}.`)
    // Earlier pieces were written: a file that ends there would pass for a whole one.
    const removeParts = async () => {
      if (await isNew()) await remove(await makeBase(config.cachedir, id), piece.path)
    }
    if (piece.at > 0) await removeParts().catch(() => {})
    return { refused }
  }
  try {
    const isThere = await write(await makeBase(config.cachedir, id), piece, await isNew())
    return isThere || { refused: 'the existing file differs, or an earlier piece is missing' }
  } catch (error) {
    log.error(`The file ${piece.path} of ${id} could not be written: ${messageOf(error)}`)
    return { refused: 'it could not write the file; see its log' }
  }
}

/** Make the directory of a minion and return its real path. */
async function makeBase(cachedir: string, id: MinionId): Promise<string> {
  let folder = await realpath(cachedir)
  for (const name of ['minions', id, 'files']) {
    folder = join(folder, name)
    await makeDirectory(folder)
  }
  return folder
}

function readPiece(load: Readonly<Record<string, unknown>>): Piece | undefined {
  const path = safeParts(load.path)
  const at = asNumber(load.loc)
  const data = asBytes(load.data)
  if (path === undefined || !data || at === undefined || !Number.isSafeInteger(at) || at < 0) return undefined
  return { path, data, at }
}

/** Delete a file, if there is its folder. */
async function remove(base: string, path: SafePath): Promise<void> {
  const folder = await openFolder(join(base, dirname(path)), base)
  if (!folder) return
  try {
    await unlink(inside(folder, basename(path)))
  } finally {
    await folder.handle.close()
  }
}

/**
 * Write a piece. Each directory is opened and checked before an entry is created in it, so that no link leads outside of
 * `base`.
 */
async function write(base: string, { path, data, at }: Piece, isNew: boolean): Promise<boolean> {
  const folders = path.split('/')
  const name = folders.pop() as string
  let folder = await openFolder(base, base)
  try {
    for (const step of folders) {
      const below = folder && (await stepInto(folder, step, base))
      await folder?.handle.close()
      folder = below
    }
    return folder ? await writeIn(folder, name, base, { data, at, isNew }) : false
  } finally {
    await folder?.handle.close()
  }
}

async function stepInto(folder: OpenedFile, name: string, base: string): Promise<OpenedFile | undefined> {
  const path = inside(folder, name)
  await mkdir(path, { mode: 0o700 }).catch(() => undefined) // it exists, or opening it fails below
  return openFolder(path, base)
}

const openFolder = (path: string, base: string) =>
  openInside(path, [base], { kind: 'directory', flags: constants.O_RDONLY | constants.O_NOFOLLOW })

/** Return a path through the open directory itself, since its name may have been replaced by a link. */
const inside = ({ handle, path }: OpenedFile, name: string): string =>
  process.platform === 'linux' ? `/proc/self/fd/${handle.fd}/${name}` : join(path, name)

interface Writing {
  readonly data: Buffer
  readonly at: number
  readonly isNew: boolean
}

/** Write a piece at its offset, which makes repetition harmless. Refuse a gap before it, and truncate the file after it. */
async function writeIn(
  folder: OpenedFile,
  name: string,
  base: string,
  { data, at, isNew }: Writing,
): Promise<boolean> {
  const { O_RDWR, O_CREAT, O_NOFOLLOW } = constants
  const flags = O_RDWR | O_NOFOLLOW | (at === 0 && isNew ? O_CREAT : 0)
  const file = await openInside(inside(folder, name), [base], { flags })
  if (!file) return false
  try {
    const size = Number(file.stat.size)
    if (!isNew) return size >= at + data.length
    if (size < at) return false
    await file.handle.truncate(at)
    await writeAll(file.handle, data, at)
    return true
  } finally {
    await file.handle.close()
  }
}

async function writeAll(handle: FileHandle, data: Buffer, at: number): Promise<void> {
  for (let written = 0; written < data.length; ) {
    const { bytesWritten } = await handle.write(data, written, data.length - written, at + written)
    written += bytesWritten
  }
}
