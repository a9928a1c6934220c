/** Files of a master: where it takes them from, and what functions may ask of them. */
import type { BigIntStats } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import type { SafePath } from '../base/safe-path.ts'
import type { Context, Log } from './context.ts'

/** A place the file server takes files from (`fileserver_backend`), for instance directories of the master. */
export interface FileServerBackend {
  open(facts: { opts: Context['opts']; log: Log }): FileSource | Promise<FileSource>
}

/** A backend that was opened. Unknown environments hold nothing. */
export interface FileSource {
  /** Environments it has files for. */
  envs(): readonly string[] | Promise<readonly string[]>
  /** A file, open for reading; the caller closes it. Undefined if there is none, or if it must not be served. */
  open(path: SafePath, saltenv: string): Promise<ServedFile | undefined>
  /** Everything there is now, sorted. */
  list(saltenv: string): Promise<FileLists>
  /** Forget what was remembered to make `list` quick. */
  forget?(): void
}

export interface ServedFile {
  readonly handle: FileHandle
  /** Where it lies, for people. */
  readonly path: string
  readonly stat: BigIntStats
}

/** Everything in an environment, as paths relative to its roots. */
export interface FileLists {
  readonly files: readonly string[]
  readonly dirs: readonly string[]
  /** Those of `dirs` with nothing in them. */
  readonly emptyDirs: readonly string[]
  /** Path of a link → where it leads to, as it is written. */
  readonly links: Readonly<Record<string, string>>
}

/** Sorted, each path once; of links of one path the first wins. */
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

/** Give the contract's type to a file server backend's default export. */
export const fileServerBackend = (plugin: FileServerBackend): FileServerBackend => plugin

/**
 * The files of the master (`salt://`), or of this host with `file_client: local`. Paths are relative to the roots, and
 * `saltenv` is an environment. Rejects where the master does not answer, or refuses.
 */
export interface FileClient {
  envs(): Promise<string[]>
  list(what: 'files' | 'dirs' | 'emptyDirs', saltenv: string, prefix?: string): Promise<string[]>
  links(saltenv: string, prefix?: string): Promise<Record<string, string>>
  /** Undefined if there is no such file. */
  hash(path: string, saltenv: string): Promise<FileHash | undefined>
  /** What stat(2) told the master: mode, inode, device, links, uid, gid, size, atime, mtime, ctime. */
  stat(path: string, saltenv: string): Promise<readonly number[] | undefined>
  /** Where the cache has the file, or would. Undefined for a path that would lie elsewhere. */
  cachedPath(path: string, saltenv: string): string | undefined
  /** Bring a file into the cache unless it is there unchanged, and give its place. Undefined if there is no such file. */
  cache(path: string, saltenv: string, options?: { readonly gzip?: number }): Promise<string | undefined>
  /**
   * Write a file to `dest`, whose folder must exist, unless it is there unchanged. It is replaced as a whole once all
   * has come and its hash is right; mode and owner of what was there are kept. False if there is no such file.
   */
  fetch(path: string, saltenv: string, dest: string, options?: { readonly gzip?: number }): Promise<boolean>
}

export interface FileHash {
  /** `sha256`, `md5`, …: Salt's name, and Node's. */
  readonly hash_type: string
  readonly hsum: string
}

/** What to bring from `salt://_modules`, `salt://_grains`, … into `extension_modules`. */
export interface SyncRequest {
  /** Types by Salt's names (`modules`, `output`); all that concern this daemon if not said. */
  readonly types?: readonly string[]
  /** Environments in order, the last wins: a list, or text with commas; that of the configuration, or base, if not said. */
  readonly saltenv?: string | readonly string[] | undefined
  /** Names of modules; the options `extmod_whitelist` and `extmod_blacklist` if not said. */
  readonly whitelist?: ModuleNames | undefined
  readonly blacklist?: ModuleNames | undefined
  /** Have what changed loaded before this resolves; true if not said. */
  readonly refresh?: boolean
}

type Names = string | readonly string[]
/** A list, or text with commas, for all types that are synced, or a map of those by type. */
export type ModuleNames = Names | Readonly<Record<string, Names>>

/** What a sync did to one type. Names are as in `modules.hello`, sorted. */
export interface SyncChanges {
  readonly added: readonly string[]
  readonly changed: readonly string[]
  readonly removed: readonly string[]
  /** Those that are there and cannot be used, or stayed as they were since they could not be brought, with the reason. */
  readonly failed: Readonly<Record<string, string>>
  /** All of it as Salt's list: what was added and changed, then a line for each that was removed or has failed; once one about new Python files. */
  readonly lines: readonly string[]
}

export type SyncReport = Readonly<Record<string, SyncChanges>>
