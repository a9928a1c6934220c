/**
 * Detects files that block or end the process that loads them. Only another process can do so: the loading process reports
 * when it begins and ends loading a file, and in between that it still responds; the other one watches the time.
 */
import type { SourceFile } from './index-files.ts'
import type { LoadSettings } from './load-file.ts'

/** Message of the loading process: it begins, goes on, or ends loading a user's file. */
export interface LoadingFile {
  readonly type: 'loading'
  readonly path: string
  /** The {@link fileKey} of the file. */
  readonly key: string
  readonly over: boolean
}

/** Time beyond the limit of a file, in which the process itself can report that the file took too long. */
const LOAD_GRACE_MS = 1000

/** Return the key of one version of a file: it changes when the file does. */
export const fileKey = ({ path, stamp }: Pick<SourceFile, 'path' | 'stamp'>) => `${path}\0${stamp}`

/**
 * Return the settings of a loader whose process is watched. Files that are known to block it (by {@link fileKey}) are
 * refused.
 */
export function watchedBy(
  send: (message: LoadingFile) => void,
  blocked: ReadonlyMap<string, string>,
): Pick<LoadSettings, 'watch' | 'blocked'> {
  return {
    watch: (file, loading) => send({ type: 'loading', path: file.path, key: fileKey(file), over: !loading }),
    blocked: (file) => blocked.get(fileKey(file)),
  }
}

/**
 * Watches the files that a process loads. Calls `onBlocked` for each that exceeds `ms` milliseconds and a grace period.
 */
export class LoadWatch {
  readonly #ms: number
  readonly #onBlocked: (key: string, reason: string, path: string) => void
  readonly #loading = new Map<string, { readonly path: string; readonly timer: NodeJS.Timeout }>()

  constructor(ms: number, onBlocked: (key: string, reason: string, path: string) => void) {
    this.#ms = ms
    this.#onBlocked = onBlocked
  }

  heard({ path, key, over }: LoadingFile): void {
    clearTimeout(this.#loading.get(key)?.timer)
    if (over) return void this.#loading.delete(key)
    const reason = `${path}: blocked its process for ${this.#ms / 1000} s while it was loaded; is there an endless loop at its top level?`
    const isLate = this.#loading.has(key) // it waits; a file that began later is more likely to block the process
    const blame = () => {
      if (!isLate || this.last?.key === key) this.#onBlocked(key, reason, path)
    }
    const timer = setTimeout(blame, this.#ms + LOAD_GRACE_MS)
    this.#loading.set(key, { path, timer })
  }

  /** The file that is being loaded; the last one started if there are several. */
  get last(): { readonly key: string; readonly path: string } | undefined {
    const [key, file] = [...this.#loading].at(-1) ?? []
    return key !== undefined && file ? { key, path: file.path } : undefined
  }

  close(): void {
    for (const { timer } of this.#loading.values()) clearTimeout(timer)
  }
}
