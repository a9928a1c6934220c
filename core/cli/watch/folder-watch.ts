import { type Dirent, type FSWatcher, watch } from 'node:fs'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { deferred } from '../../base/deferred.ts'
import { messageOf, SaltError } from '../../base/errors.ts'

/** A change is reported after this time without another: editors write a file in several steps. */
const QUIET_MS = 100

export interface FolderWatchSettings {
  /** That time, in milliseconds. */
  readonly quietMs?: number
}

/** Reports files that are saved below some folders, also in folders that are created later. */
export class FolderWatch {
  readonly #folders: readonly string[]
  readonly #quietMs: number
  readonly #watchers = new Map<string, FSWatcher>()
  #saved = new Set<string>()
  #pending = deferred()
  #isOpen = false
  #quiet: NodeJS.Timeout | undefined

  static async open(
    folders: readonly string[],
    { quietMs = QUIET_MS }: FolderWatchSettings = {},
  ): Promise<FolderWatch> {
    const opened = new FolderWatch(folders, quietMs)
    await opened.#addAll()
    opened.#isOpen = true
    return opened
  }

  private constructor(folders: readonly string[], quietMs: number) {
    this.#folders = folders
    this.#quietMs = quietMs
  }

  /**
   * Wait for the files and folders that were saved or deleted since the last call. Rejects if the system can watch no
   * more folders.
   */
  async next(): Promise<readonly string[]> {
    await this.#pending.promise
    this.#pending = deferred()
    const saved = [...this.#saved]
    this.#saved.clear()
    return saved
  }

  /** Watch one more folder, without those in it. */
  add(folder: string): void {
    if (!this.#watchers.has(folder)) this.#watch(folder)
  }

  close(): void {
    clearTimeout(this.#quiet)
    for (const folder of [...this.#watchers.keys()]) this.#forget(folder)
  }

  async #addAll(): Promise<void> {
    await Promise.all(this.#folders.map((folder) => this.#add(folder)))
  }

  async #add(folder: string): Promise<void> {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => undefined)
    if (!entries) return
    if (!this.#watchers.has(folder)) {
      this.#watch(folder)
      if (this.#isOpen) this.#saveAll(folder, entries)
    }
    const inside = entries.filter((entry) => entry.isDirectory() && isOwn(entry.name))
    await Promise.all(inside.map((entry) => this.#add(path.join(folder, entry.name))))
  }

  /** Report all files of a new folder: they were written before it was watched. */
  #saveAll(folder: string, entries: readonly Dirent[]): void {
    for (const entry of entries)
      if (!entry.isDirectory() && isOwn(entry.name)) this.#saved.add(path.join(folder, entry.name))
  }

  #watch(folder: string): void {
    try {
      const watcher = watch(folder, (event, name) => {
        if (name === null || !isOwn(name)) return
        const file = path.join(folder, name)
        if (event === 'rename') this.#forget(file) // it may be a folder that was deleted, or replaced
        this.#note(file)
      })
      this.#watchers.set(
        folder,
        watcher.on('error', () => this.#forget(folder)),
      )
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw notWatched(folder, error)
    }
  }

  #note(file: string): void {
    this.#saved.add(file)
    clearTimeout(this.#quiet)
    this.#quiet = setTimeout(
      () => void this.#report().catch((error) => this.#pending.reject(error)),
      this.#quietMs,
    )
  }

  async #report(): Promise<void> {
    await this.#addAll()
    if (this.#saved.size > 0) this.#pending.resolve()
  }

  /** Stop watching a folder and those in it. */
  #forget(folder: string): void {
    for (const [known, watcher] of this.#watchers) {
      if (known !== folder && !known.startsWith(folder + path.sep)) continue
      watcher.close()
      this.#watchers.delete(known)
    }
  }
}

function notWatched(folder: string, cause: unknown): SaltError {
  const message = `${folder} cannot be watched: ${messageOf(cause)}. If the system's limit is reached, raise fs.inotify.max_user_watches, or name a smaller folder.`
  return new SaltError('PERMISSIONS', message, { folder }, { cause })
}

/** Whether a file is the user's own, not one of npm, version control or an editor. */
const isOwn = (name: string) => !/^\.|^node_modules$|~$|\.sw.$|^4913$/.test(name)
