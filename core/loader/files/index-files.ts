import { accessSync, constants, type Dirent, readdirSync, type Stats, statSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { fileProblem } from '../../base/files/file-problem.ts'
import { type Kind, type KindName, kinds } from '../kinds.ts'
import { configuredPackages, searchDirectories, stringsIn } from './directories.ts'

type Config = Readonly<Record<string, unknown>>

/** A file that may provide functions or a plugin. */
export interface SourceFile {
  /** Name without ending: `test` for `modules/test.ts`. */
  readonly name: string
  readonly path: string
  readonly builtIn: boolean
  /** The reason why its directory is searched (see {@link searchDirectories}). */
  readonly origin: string
  /** Text that changes when the file does. */
  readonly stamp: string
  /** Size in bytes. */
  readonly size: number
  /** The reason if the configuration excludes it. */
  readonly excluded?: string
}

/** A file that is ignored because of another with the same name, in an earlier directory or with a preferred ending. */
export interface HiddenFile extends SourceFile {
  readonly by: SourceFile
}

export interface Listing {
  /** In order of precedence. */
  readonly files: readonly SourceFile[]
  readonly hidden: readonly HiddenFile[]
  /** A clause about each folder that is there and cannot be read. */
  readonly unreadable: readonly string[]
}

/** Endings in order of preference, for files of one name in one directory. */
const endings = ['.ts', '.mts', '.js', '.mjs', '.cjs']

/**
 * List all files of a kind. A file hides files of the same name in later directories; files whose names begin with `_` or
 * `.` are helpers. Only directories are read.
 */
export async function indexFiles(kind: Kind, config: Config): Promise<Listing> {
  const found = new Map<string, SourceFile>()
  const hidden: HiddenFile[] = []
  const unreadable = new Set<string>()
  const disabled = new Set(stringsIn(config[kind.disableKey]))
  for (const { path: folder, builtIn, origin } of await searchDirectories(kind, config)) {
    for (const { name, candidates } of listFolder(folder, (clause) => unreadable.add(clause))) {
      const [first, ...others] = candidates
      const excluded = disabled.has(name) ? { excluded: `it is listed in ${kind.disableKey}` } : {}
      const before = found.get(name)
      const file = before ?? (first && { name, ...first, builtIn, origin, ...excluded })
      if (!file) continue
      found.set(name, file)
      for (const other of before ? candidates : others)
        hidden.push({ name, ...other, builtIn, origin, by: file })
    }
  }
  return { files: [...found.values()], hidden, unreadable: [...unreadable] }
}

/** Return text that changes when a user's file of these kinds, or a helper beside them, is added, removed or changed. */
export async function usersStamp(names: readonly KindName[], config: Config): Promise<string> {
  const packages = configuredPackages(config)
  const folders = await Promise.all(
    names.map((name) => searchDirectories(kinds.get(name) as Kind, config, packages)),
  )
  const own = folders.flat().filter(({ builtIn }) => !builtIn)
  const stamps = await Promise.all([...new Set(own.map((folder) => folder.path))].map(folderStamp))
  return stamps.flat().join('\n')
}

/** Levels of directories below one of extensions that are searched for helpers. */
const MAX_DEPTH = 5

/**
 * Return the stamps of all files that extensions in a directory may import from it, helpers included, packages
 * excluded.
 */
async function folderStamp(directory: string, depth = 0): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => [])
  const stamps = await Promise.all(
    entries.map(async (entry) => {
      const inside = path.join(directory, entry.name)
      if (/^\.|^node_modules$/.test(entry.name)) return []
      if (entry.isDirectory()) return depth < MAX_DEPTH ? folderStamp(inside, depth + 1) : []
      if (moduleName(entry.name) === undefined) return []
      const facts = await stat(inside).catch(() => undefined)
      return facts?.isFile() ? [`${inside} ${stampOf(facts)}`] : []
    }),
  )
  return stamps.flat().sort()
}

const stampOf = ({ mtimeMs, size, ino }: Stats): string => `${mtimeMs}:${size}:${ino}`

interface Candidate {
  readonly path: string
  readonly stamp: string
  readonly size: number
}

/**
 * List the files of a directory by name, sorted. A subdirectory `name/` stands for its `name/index`, and precedes a
 * file. Every process does this when it starts: asynchronous calls would take ten times as long. `onUnreadable` is called with a
 * clause about a directory that is there and cannot be read.
 */
export function listFolder(
  directory: string,
  onUnreadable?: (clause: string) => void,
): { name: string; candidates: Candidate[] }[] {
  const entries = entriesOf(directory, onUnreadable)
  const names = new Set<string>()
  for (const entry of entries) {
    const plain = moduleName(entry.name) ?? (entry.isFile() ? undefined : entry.name)
    if (plain !== undefined && !/^[_.]|\.|^node_modules$/.test(plain)) names.add(plain)
  }
  const present = new Set(entries.map((entry) => entry.name))
  return [...names].sort().map((name) => ({ name, candidates: candidatesOf(directory, name, present) }))
}

function entriesOf(directory: string, onUnreadable?: (clause: string) => void): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') onUnreadable?.(unreadableClause(directory, error))
    return []
  }
}

/** Return a clause about a directory that cannot be read, or about the one above it if that may not be searched. */
function unreadableClause(directory: string, error: unknown): string {
  const above = path.dirname(directory)
  try {
    accessSync(above, constants.X_OK)
  } catch {
    return `the folder ${above} cannot be searched: this user may not do that`
  }
  return `the folder cannot be read: ${fileProblem(error)}`
}

function candidatesOf(directory: string, name: string, present: ReadonlySet<string>): Candidate[] {
  const inFolder = present.has(name)
    ? endings.map((ending) => path.join(directory, name, `index${ending}`))
    : []
  const beside = endings.filter((e) => present.has(name + e)).map((e) => path.join(directory, name + e))
  return [...inFolder, ...beside].flatMap((candidate) => {
    const facts = factsAt(candidate)
    return facts?.isFile() ? [{ path: candidate, stamp: stampOf(facts), size: facts.size }] : []
  })
}

function factsAt(file: string): Stats | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** Return a file name without its ending; undefined for declarations, tests and other endings. */
function moduleName(file: string): string | undefined {
  if (/\.(d|test|spec)\.[cm]?ts$/.test(file)) return undefined
  const ending = endings.find((candidate) => file.endsWith(candidate))
  return ending && file.slice(0, -ending.length)
}
