import type { Stats } from 'node:fs'
import { type FileHandle, mkdir, open, realpath, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { FileClient, FileHash } from '../author/files.ts'
import { messageOf, SaltError } from '../base/errors.ts'
import { fillFileAtomic } from '../base/files/atomic-file.ts'
import { fileProblem } from '../base/files/file-problem.ts'
import { isBelow } from '../base/files/open-inside.ts'
import { safePath } from '../base/files/safe-path.ts'
import { isRecord } from '../base/record.ts'
import { asNumber } from '../wire/bytes.ts'
import { type Ask, type Download, download, reportUnanswered } from './download.ts'
import { fileDigest } from './file-hashes.ts'

export interface FileClientSettings {
  /** Send the load of a request about files. Resolves with the answer. */
  readonly ask: Ask
  readonly cachedir: string
  /** Let another process download into a regular file. Resolves with false if that process leaves it to this one. */
  delegate?(file: Download, wanted: FileHash, into: FileHandle): Promise<boolean>
}

const lists = { files: '_file_list', dirs: '_dir_list', emptyDirs: '_file_list_emptydirs' } as const

/** Open a client of a file server, which is a master (wire protocol §7.4) or in this process. */
export function openFileClient({ ask: askServer, cachedir, delegate }: FileClientSettings): FileClient {
  const ask = reportUnanswered(askServer)
  const list: FileClient['list'] = async (what, saltenv, prefix = '') =>
    textsIn(await ask({ cmd: lists[what], saltenv, prefix }))

  const hash: FileClient['hash'] = async (path, saltenv) =>
    readHash(await ask({ cmd: '_file_hash', path, saltenv }))

  const cachedPath: FileClient['cachedPath'] = (path, saltenv) => {
    const place = safePath(path.replace(/^\|/, ''))
    const environment = safePath(saltenv)
    return place && environment && join(cachedir, 'files', environment, place)
  }

  /** Resolves with the download that `dest` needs; false if it is up to date, undefined if there is no such file. */
  async function missing(file: Download, dest: string): Promise<Transfer | false | undefined> {
    const currentHash = () => hash(file.path, file.saltenv)
    const wanted = await currentHash()
    if (!wanted) return undefined
    const existing = await stat(dest).catch(() => undefined)
    const isUpToDate = existing?.isFile() && (await hashOfPath(dest, wanted.hash_type)) === wanted.hsum
    return isUpToDate ? false : { ask, delegate, file, wanted, currentHash }
  }

  return {
    envs: async () => textsIn(await ask({ cmd: '_file_envs' })),
    list,
    links: async (saltenv, prefix = '') => {
      const links = await ask({ cmd: '_symlink_list', saltenv, prefix })
      if (!isRecord(links)) throw listError()
      return links as Record<string, string>
    },
    hash,
    stat: async (path, saltenv) => {
      const found = await ask({ cmd: '_file_find', path, saltenv })
      const facts = isRecord(found) && Array.isArray(found.stat) ? found.stat.map(asNumber) : undefined
      return facts?.every((fact) => fact !== undefined) ? (facts as number[]) : undefined
    },
    cachedPath,
    cache: async (path, saltenv, options = {}) => {
      const dest = cachedPath(path, saltenv)
      const transfer = dest === undefined ? undefined : await missing({ path, saltenv, ...options }, dest)
      if (dest === undefined || transfer === undefined) return undefined
      if (transfer === false) return dest
      await makeRoom(dest, join(cachedir, 'files'))
      return (await retryWhileChanging(transfer, dest, { durable: false })) ? dest : undefined
    },
    fetch: async (path, saltenv, dest, options = {}) => {
      const transfer = await missing({ path, saltenv, ...options }, dest)
      return transfer ? replace(transfer, dest) : transfer === false
    },
  }
}

interface Transfer {
  readonly ask: Ask
  readonly delegate: FileClientSettings['delegate']
  readonly file: Download
  readonly wanted: FileHash
  /** Get the current hash from the file server. */
  currentHash(): Promise<FileHash | undefined>
}

/** Write the file to `dest`. Resolves with false if the file server no longer has it. */
async function replace(transfer: Transfer, dest: string): Promise<boolean> {
  const existing = await stat(dest).catch(() => undefined)
  if (existing && !existing.isFile()) return downloadInto(transfer, dest)
  return retryWhileChanging(transfer, existing ? await realpath(dest) : dest, keeping(existing))
}

const TRIES = 3

/** Download a file, again if it is changed on the master meanwhile. Resolves with false if it is removed there. */
async function retryWhileChanging(
  { ask, delegate, file, wanted: first, currentHash }: Transfer,
  dest: string,
  options: Parameters<typeof fillFileAtomic>[2],
): Promise<boolean> {
  const fill = (expected: FileHash) => async (handle: FileHandle) => {
    if (!(await delegate?.(file, expected, handle))) await download(ask, file, expected, handle)
  }
  let wanted: FileHash | undefined = first
  for (let tries = 1; wanted; tries++) {
    const expected: FileHash = wanted
    try {
      await fillFileAtomic(dest, fill(expected), options)
      return true
    } catch (error) {
      if (!SaltError.is(error)) throw unwritable(dest, error)
      if (error.data.changed !== true || tries === TRIES) throw error
      wanted = await currentHash()
    }
  }
  return false
}

/** Return the error for a file that the system did not let be written. */
function unwritable(dest: string, error: unknown): unknown {
  const isOfSystem = (error as NodeJS.ErrnoException).errno !== undefined
  return isOfSystem
    ? new SaltError('COMMAND_EXECUTION', `${dest} could not be written: ${fileProblem(error)}.`)
    : error
}

/** Write the file into a `dest` that is not a regular file, such as a terminal or a pipe, and cannot be replaced. */
async function downloadInto({ ask, file, wanted }: Transfer, dest: string): Promise<boolean> {
  const handle = await open(dest, 'w')
  try {
    await download(ask, file, wanted, handle)
    return true
  } catch (error) {
    const message = `${messageOf(error)} ${dest} is not a regular file; the data received until then was written to it.`
    throw new SaltError('COMMAND_EXECUTION', message, {}, { cause: error })
  } finally {
    await handle.close()
  }
}

function keeping(existing: Stats | undefined): Parameters<typeof fillFileAtomic>[2] {
  if (!existing) return { mode: 0o666 & ~process.umask() }
  const { mode, uid, gid } = existing
  return { mode: mode & 0o7777, ...(process.getuid?.() === 0 && { owner: { uid, gid } }) }
}

/** Make the directory of `dest`. Remove a file where a directory must be, and a directory at `dest`. */
async function makeRoom(dest: string, cache: string): Promise<void> {
  for (let above = dirname(dest); above !== cache && isBelow(above, cache); above = dirname(above)) {
    if ((await stat(above).catch(() => undefined))?.isFile()) await rm(above)
  }
  await mkdir(dirname(dest), { recursive: true, mode: 0o700 })
  const existing = await stat(dest).catch(() => undefined)
  if (existing?.isDirectory()) await rm(dest, { recursive: true })
}

/** Return the digest of a file of this host. */
async function hashOfPath(path: string, type: string): Promise<string> {
  const handle = await open(path)
  try {
    return await fileDigest(handle, type)
  } finally {
    await handle.close()
  }
}

const HASHES = new Set(['md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512'])

/** Read the answer to `_file_hash`. @throws SaltError COMMAND_EXECUTION for an unsupported hash type */
function readHash(answer: unknown): FileHash | undefined {
  if (!isRecord(answer)) return undefined
  const { hash_type, hsum } = answer
  if (typeof hash_type !== 'string' || typeof hsum !== 'string') return undefined
  if (HASHES.has(hash_type)) return { hash_type, hsum }
  throw new SaltError(
    'COMMAND_EXECUTION',
    `The master hashes files with ${hash_type}, which is not supported; set hash_type: sha256 in its configuration.`,
  )
}

/** Read a list of texts. An answer that is not a list is an error of the master, not an empty list. */
function textsIn(answer: unknown): string[] {
  if (Array.isArray(answer)) return answer.filter((item): item is string => typeof item === 'string')
  throw listError()
}

const listError = (): SaltError =>
  new SaltError(
    'COMMAND_EXECUTION',
    'The file server could not list its files. See the log of the master for the reason, fix it, and try again.',
  )
