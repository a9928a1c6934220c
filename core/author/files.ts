/** The contracts of file server backends, and of the file client that functions use. */
import type { BigIntStats } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import type { SafePath } from '../base/files/safe-path.ts'
import type { Context, Log } from './context.ts'

/** A source of files for the file server (`fileserver_backend`), such as directories of the master. */
export interface FileServerBackend {
  open(facts: { opts: Context['opts']; log: Log }): FileSource | Promise<FileSource>
}

/** An open backend. Unknown environments have no files. */
export interface FileSource {
  /** List the environments it has files for. */
  envs(): readonly string[] | Promise<readonly string[]>
  /** Open a file for reading; the caller closes it. Undefined if there is none, or if it must not be served. */
  open(path: SafePath, saltenv: string): Promise<ServedFile | undefined>
  /** List everything in an environment, sorted. */
  list(saltenv: string): Promise<FileLists>
  /** Clear the caches of `list`. */
  forget?(): void
}

export interface ServedFile {
  readonly handle: FileHandle
  /** The place of the file, for messages. */
  readonly path: string
  readonly stat: BigIntStats
}

/** Everything in an environment, as paths relative to its roots. */
export interface FileLists {
  readonly files: readonly string[]
  readonly dirs: readonly string[]
  /** The empty ones among `dirs`. */
  readonly emptyDirs: readonly string[]
  /** Path of a symbolic link → its target, unresolved. */
  readonly links: Readonly<Record<string, string>>
}

/** Merge lists: sorted, each path once. If several lists have a link of one path, the first wins. */
export function mergeLists(lists: readonly FileLists[]): FileLists {
  const [only] = lists
  if (only && lists.length === 1) return only
  const all = (of: (list: FileLists) => readonly string[]) => [...new Set(lists.flatMap(of))].sort()
  return {
    files: all(({ files }) => files),
    dirs: all(({ dirs }) => dirs),
    emptyDirs: all(({ emptyDirs }) => emptyDirs),
    links: Object.assign({}, ...lists.map(({ links }) => links).reverse()),
  }
}

/** Declare a file server backend: the default export of its file. */
export const fileServerBackend = (plugin: FileServerBackend): FileServerBackend => plugin

/**
 * The files of the master (`salt://`), or of this host with `file_client: local`. Paths are relative to the roots, and
 * `saltenv` is an environment. Methods reject if the master does not answer, or refuses.
 */
export interface FileClient {
  envs(): Promise<string[]>
  list(what: 'files' | 'dirs' | 'emptyDirs', saltenv: string, prefix?: string): Promise<string[]>
  links(saltenv: string, prefix?: string): Promise<Record<string, string>>
  /** Return the hash of a file; undefined if there is no such file. */
  hash(path: string, saltenv: string): Promise<FileHash | undefined>
  /** Return the master's stat(2) of a file: mode, inode, device, links, uid, gid, size, atime, mtime, ctime. */
  stat(path: string, saltenv: string): Promise<readonly number[] | undefined>
  /** Return the path in the cache, whether or not the file is cached. Undefined for a path that would leave the cache. */
  cachedPath(path: string, saltenv: string): string | undefined
  /**
   * Download a file to the cache unless it is there unchanged, and return its path. Undefined if there is no such file.
   */
  cache(path: string, saltenv: string, options?: { readonly gzip?: number }): Promise<string | undefined>
  /**
   * Download a file to `dest`, whose directory must exist, unless it is there unchanged. The file is replaced atomically
   * once it is complete and its hash is right, and keeps its mode and owner. False if there is no such file.
   */
  fetch(path: string, saltenv: string, dest: string, options?: { readonly gzip?: number }): Promise<boolean>
}

export interface FileHash {
  /** `sha256`, `md5`, …: the same name for Salt and Node. */
  readonly hash_type: string
  readonly hsum: string
}

/** Extensions to sync from `salt://_modules`, `salt://_grains`, … to `extension_modules`. */
export interface SyncRequest {
  /** Types by Salt's names (`modules`, `output`); by default all that this daemon uses. */
  readonly types?: readonly string[]
  /** Environments in order, the last wins: a list, or text with commas. By default that of the configuration, or base. */
  readonly saltenv?: string | readonly string[] | undefined
  /** Names of modules to sync; the option `extmod_whitelist` by default. */
  readonly whitelist?: ModuleNames | undefined
  /** Names of modules not to sync; the option `extmod_blacklist` by default. */
  readonly blacklist?: ModuleNames | undefined
  /** Whether to load the changed extensions before this resolves; true by default. */
  readonly refresh?: boolean
}

type Names = string | readonly string[]
/** Names as a list, or as text with commas, for all synced types; or a map of these by type. */
export type ModuleNames = Names | Readonly<Record<string, Names>>

/** The changes of a sync for one type. Names have the form `modules.hello`, and are sorted. */
export interface SyncChanges {
  readonly added: readonly string[]
  readonly changed: readonly string[]
  readonly removed: readonly string[]
  /** Reasons by name, for extensions that cannot be used, or that stayed unchanged since the download failed. */
  readonly failed: Readonly<Record<string, string>>
  /** Lists mistakes in added and changed extensions, which work otherwise, as `path:line: sentence`. Absent if there are none. */
  readonly warnings?: readonly string[]
  /**
   * The changes as Salt's list: the added and changed names, then a line for each removed or failed one, and a line about new
   * Python files if there are any.
   */
  readonly lines: readonly string[]
}

export type SyncReport = Readonly<Record<string, SyncChanges>>
