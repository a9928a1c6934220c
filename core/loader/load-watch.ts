/**
 * Files that block, or end, the process that loads them. Only another process can tell: the one that loads says which
 * file it has begun and which is over, the other watches the time.
 */
import type { SourceFile } from './index-files.ts'
import type { LoadSettings } from './load-file.ts'

/** From the process that loads: a user's file is being loaded, or is no longer. */
export interface LoadingFile {
  readonly type: 'loading'
  readonly path: string
  /** {@link fileKey} */
  readonly key: string
  readonly over: boolean
}

/** A process that cannot say itself that a file takes too long gets so much longer. Milliseconds. */
const LOAD_GRACE_MS = 1000

/** A file as it was: changed, it is another. */
export const fileKey = ({ path, stamp }: Pick<SourceFile, 'path' | 'stamp'>) => `${path}\0${stamp}`

/** Settings of a loader whose process is watched; files that are known to block it (by {@link fileKey}) are refused. */
export function watchedBy(
  send: (message: LoadingFile) => void,
  blocked: ReadonlyMap<string, string>,
): Pick<LoadSettings, 'watch' | 'blocked'> {
  return {
    watch: (file, loading) => send({ type: 'loading', path: file.path, key: fileKey(file), over: !loading }),
    blocked: (file) => blocked.get(fileKey(file)),
  }
}

/** Watches the files one process loads; `onBlocked` is told of each that takes longer than `ms` and some more. */
export class LoadWatch {
  readonly #ms: number
  readonly #onBlocked: (key: string, reason: string) => void
  readonly #loading = new Map<string, { readonly path: string; readonly timer: NodeJS.Timeout }>()

  constructor(ms: number, onBlocked: (key: string, reason: string) => void) {
    this.#ms = ms
    this.#onBlocked = onBlocked
  }

  heard({ path, key, over }: LoadingFile): void {
    clearTimeout(this.#loading.get(key)?.timer)
    this.#loading.delete(key)
    if (over) return
    const reason = `${path}: blocked its process for ${this.#ms / 1000} s while it was loaded; is there an endless loop at its top level?`
    const timer = setTimeout(() => this.#onBlocked(key, reason), this.#ms + LOAD_GRACE_MS)
    this.#loading.set(key, { path, timer })
  }

  /** What was begun last and is not over. */
  get last(): { readonly key: string; readonly path: string } | undefined {
    const [key, file] = [...this.#loading].at(-1) ?? []
    return key !== undefined && file ? { key, path: file.path } : undefined
  }

  close(): void {
    for (const { timer } of this.#loading.values()) clearTimeout(timer)
  }
}
