/** The files of this host that `salt-cp` sends, and where they go. */
import { readdirSync, realpathSync, statSync } from 'node:fs'
import { basename, join, relative, resolve } from 'node:path'
import { SaltError } from '../../base/errors.ts'
import { fileProblem } from '../../base/files/file-problem.ts'

export interface LocalFile {
  readonly path: string
  /** Its path on the minions. */
  readonly remote: string
  /** Permission bits. */
  readonly mode: number
}

export interface FilesToSend {
  readonly files: readonly LocalFile[]
  /** Paths that empty folders get on the minions. */
  readonly emptyFolders: readonly string[]
}

/**
 * List the files below these paths. With several files, an empty folder, or a slash at its end, `dest` is a folder: each source gets its
 * own name there. Links are followed. Throws SaltError INVOCATION for what is missing, or neither a file nor a folder.
 */
export function filesToSend(sources: readonly string[], dest: string): FilesToSend {
  const found = sources.map((source) => ({ source: resolve(source), ...below(resolve(source), []) }))
  const count = found.reduce((sum, { files }) => sum + files.length, 0)
  const hasEmptyFolders = found.some(({ emptyFolders }) => emptyFolders.length > 0)
  const isFolder = hasEmptyFolders || count > 1 || dest.endsWith('/')
  const remote = (source: string, path: string) =>
    isFolder || path !== source ? join(dest, basename(source), relative(source, path)) : dest
  return {
    files: found.flatMap(({ source, files }) =>
      files.map(({ path, mode }) => ({ path, remote: remote(source, path), mode })),
    ),
    emptyFolders: found.flatMap(({ source, emptyFolders }) =>
      emptyFolders.map((path) => remote(source, path)),
    ),
  }
}

interface Found {
  readonly files: readonly Omit<LocalFile, 'remote'>[]
  readonly emptyFolders: readonly string[]
}

/** `above` are the real paths of the folders that this one is in: links may lead back to them. */
function below(path: string, above: readonly string[]): Found {
  const facts = about(path, (file) => statSync(file))
  if (facts.isFile()) return { files: [{ path, mode: facts.mode & 0o7777 }], emptyFolders: [] }
  if (!facts.isDirectory())
    throw new SaltError('INVOCATION', `${path} is neither a file nor a folder; leave it out.`)
  const real = about(path, (folder) => realpathSync(folder))
  if (above.includes(real))
    throw new SaltError('INVOCATION', `${path} is a link to a folder that it is in; leave it out.`)
  const names = about(path, (folder) => readdirSync(folder)).sort()
  if (names.length === 0) return { files: [], emptyFolders: [path] }
  const inside = names.map((name) => below(join(path, name), [...above, real]))
  return {
    files: inside.flatMap(({ files }) => files),
    emptyFolders: inside.flatMap(({ emptyFolders }) => emptyFolders),
  }
}

/** Read something about a path of this host. Throws SaltError INVOCATION with the path and the reason if that fails. */
function about<T>(path: string, read: (path: string) => T): T {
  try {
    return read(path)
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    const sentence = isMissing ? `${path} does not exist.` : `${path} cannot be read: ${fileProblem(error)}.`
    throw new SaltError('INVOCATION', sentence, {}, { cause: error })
  }
}
