import { constants } from 'node:fs'
import { type FileHandle, mkdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from '../author/context.ts'
import { makeDirectory } from '../base/directory.ts'
import { messageOf } from '../base/errors.ts'
import type { MinionId } from '../base/minion-id.ts'
import { type OpenedFile, openInside } from '../base/open-inside.ts'
import { type SafePath, safeParts } from '../base/safe-path.ts'
import { asBytes, asNumber } from '../wire/bytes.ts'

const MIB = 1024 * 1024

interface ReceiveSettings {
  readonly config: {
    readonly cachedir: string
    readonly file_recv: boolean
    readonly file_recv_max_size: number
  }
  readonly log: Log
  /** False for a request that came before: it must not write again what may be newer by now. */
  isNew(): Promise<boolean>
}

/** A clause that says why a file was not taken. */
export interface FileRefusal {
  readonly refused: string
}

interface Piece {
  readonly path: SafePath
  readonly data: Buffer
  /** Where in the file it belongs. */
  readonly at: number
}

/**
 * `_file_recv` (wire protocol §7.2): writes a piece of a file a minion pushes to
 * `<cachedir>/minions/<id>/files/<path>`, for nobody else to read. True if it is there, else why not. Off unless
 * `file_recv` is set.
 */
export async function receiveFile(
  load: Readonly<Record<string, unknown>>,
  id: MinionId,
  { config, log, isNew }: ReceiveSettings,
): Promise<true | FileRefusal> {
  if (!config.file_recv) return { refused: 'it takes no files; set file_recv: True in its configuration' }
  const piece = readPiece(load)
  if (!piece) return { refused: 'the request has no usable path, loc or data' }
  if (piece.at + piece.data.length > config.file_recv_max_size * MIB) {
    const refused = `it is larger than ${config.file_recv_max_size} MB (file_recv_max_size)`
    log.error(`Refused the file ${piece.path} of ${id}: ${refused}.`)
    return { refused }
  }
  try {
    const isThere = await write(await makeBase(config.cachedir, id), piece, await isNew())
    return (
      isThere || { refused: 'what is there already is something else, or a piece before this one is missing' }
    )
  } catch (error) {
    log.error(`The file ${piece.path} of ${id} could not be written: ${messageOf(error)}`)
    return { refused: 'it could not write the file; its log says why' }
  }
}

/** The folder of a minion, as the kernel will name it. */
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

/** Each folder is opened and looked at before anything is made in it, so that no link leads elsewhere. */
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
  await mkdir(path, { mode: 0o700 }).catch(() => undefined) // it is there, or cannot be opened either
  return openFolder(path, base)
}

const openFolder = (path: string, base: string) =>
  openInside(path, [base], { kind: 'directory', flags: constants.O_RDONLY | constants.O_NOFOLLOW })

/** By the open folder itself, wherever its name may lead by now. */
const inside = ({ handle, path }: OpenedFile, name: string): string =>
  process.platform === 'linux' ? `/proc/self/fd/${handle.fd}/${name}` : join(path, name)

interface Writing {
  readonly data: Buffer
  readonly at: number
  readonly isNew: boolean
}

/** At its place, so that the same piece twice is no harm; a gap before it is refused, what comes after is cut off. */
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
