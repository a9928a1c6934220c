import type { BigIntStats } from 'node:fs'
import { promisify } from 'node:util'
import { gzip as gzipCallback } from 'node:zlib'
import type { FileLists } from '../author/files.ts'
import { asNumber } from '../wire/bytes.ts'
import { FileHashes } from './file-hashes.ts'
import type { FileServer, FileServerConfig, FoundFile } from './file-server.ts'

type Load = Readonly<Record<string, unknown>>

/** Answer the load of a request about files. */
export type FileRequest = (load: Load) => Promise<unknown>

const compress = promisify(gzipCallback)

/**
 * Return the handlers of all requests that read files (wire protocol §7.2, §7.4). A missing file gives an empty answer, not an
 * error.
 */
export function fileRequests(
  server: FileServer,
  { file_buffer_size: piece, hash_type }: Pick<FileServerConfig, 'file_buffer_size' | 'hash_type'>,
): ReadonlyMap<string, FileRequest> {
  const hashes = new FileHashes(hash_type)
  const hashed = async ({ file }: FoundFile) => ({ hash_type, hsum: await hashes.of(file) })
  const found = <T>(load: Load, use: (found: FoundFile) => Promise<T>, otherwise: T) =>
    withFile(server, load, use, otherwise)
  return new Map<string, FileRequest>([
    ['_file_list', listed(server, ({ files }) => files)],
    ['_file_list_emptydirs', listed(server, ({ emptyDirs }) => emptyDirs)],
    ['_dir_list', listed(server, ({ dirs }) => dirs)],
    ['_symlink_list', (load) => linksIn(server, load)],
    ['_file_envs', async () => [...new Set(Object.values(await server.envs()).flat())].sort()],
    ['_file_hash', (load) => found<unknown>(load, hashed, '')],
    [
      '_file_hash_and_stat',
      (load) => found<unknown>(load, async (one) => [await hashed(one), statList(one.file.stat)], ['', null]),
    ],
    ['_file_find', (load) => found<object>(load, async (one) => described(one), { path: '', rel: '' })],
    ['_serve_file', (load) => found<object>(load, (one) => serve(one, load, piece), { data: '', dest: '' })],
  ])
}

/** Return a handler that lists the paths of one environment that begin with `prefix`. */
function listed(server: FileServer, of: (lists: FileLists) => readonly string[]): FileRequest {
  return async ({ saltenv, prefix }) => {
    if (typeof saltenv !== 'string') return []
    const paths = of(await server.list(saltenv))
    const beginning = trimmed(prefix)
    return beginning ? paths.filter((path) => path.startsWith(beginning)) : paths
  }
}

async function linksIn(server: FileServer, { saltenv, prefix }: Load): Promise<object> {
  if (typeof saltenv !== 'string') return {}
  const { links } = await server.list(saltenv)
  const beginning = trimmed(prefix)
  return Object.fromEntries(Object.entries(links).filter(([path]) => path.startsWith(beginning)))
}

const trimmed = (prefix: unknown): string =>
  typeof prefix === 'string' ? prefix.replace(/^\/+/, '').replace(/(?<!\/)\/+$/, '') : ''

async function withFile<T>(
  server: FileServer,
  { path, saltenv }: Load,
  use: (found: FoundFile) => Promise<T>,
  otherwise: T,
): Promise<T> {
  const found = await server.find(path, saltenv)
  if (!found) return otherwise
  try {
    return await use(found)
  } finally {
    await found.file.handle.close()
  }
}

const described = ({ file, path, back }: FoundFile) => ({
  path: file.path,
  rel: path,
  back,
  stat: statList(file.stat),
})

/** Format stats as Python's `list(os.stat(…))`, with times in whole seconds. */
function statList({ mode, ino, dev, nlink, uid, gid, size, ...times }: BigIntStats): number[] {
  const seconds = [times.atimeMs, times.mtimeMs, times.ctimeMs].map((ms) => ms / 1000n)
  return [mode, ino, dev, nlink, uid, gid, size, ...seconds].map(Number)
}

/** Answer with one piece from the offset `loc`; empty at the end. `loc` counts uncompressed bytes. */
async function serve({ file, path }: FoundFile, load: Load, piece: number): Promise<object> {
  const at = asNumber(load.loc)
  if (at === undefined || !Number.isSafeInteger(at) || at < 0) return { data: '', dest: '' }
  const data = await read(file.handle, at, Math.min(piece, Math.max(0, Number(file.stat.size) - at)))
  const level = asNumber(load.gzip)
  if (!level || data.length === 0) return { data, dest: path }
  const strength = Math.min(9, Math.max(1, Math.trunc(level)))
  return { data: await compress(data, { level: strength }), dest: path, gzip: strength }
}

async function read(handle: FoundFile['file']['handle'], at: number, length: number): Promise<Buffer> {
  const data = Buffer.allocUnsafe(length)
  for (let filled = 0; filled < length; ) {
    const { bytesRead } = await handle.read(data, filled, length - filled, at + filled)
    if (bytesRead === 0) return data.subarray(0, filled)
    filled += bytesRead
  }
  return data
}
