import { closeSync, fstatSync, openSync, type Stats, statSync } from 'node:fs'

/**
 * What became of it: `gone` if its path leads nowhere, or to another file; `cut` if it has lost its end, which nobody may
 * look at through LMDB: the system ends a process that reads behind the end of a file it maps into memory.
 */
type FileState = 'whole' | 'gone' | 'cut'

/** A store's file that LMDB has open, and what somebody else may do to it meanwhile. LMDB never makes it shorter. */
export class OpenFile {
  readonly #path: string
  readonly #file: number
  readonly #own: Stats
  readonly #lock: Stats | undefined
  /** Bytes it had when it was last looked at. */
  #size: number

  constructor(path: string) {
    this.#path = path
    this.#file = openSync(path, 'r')
    this.#own = fstatSync(this.#file)
    this.#lock = statOf(`${path}-lock`)
    this.#size = this.#own.size
  }

  /** Takes one system call while nothing is wrong. */
  state(): FileState {
    const there = statOf(this.#path)
    const own = isSame(there, this.#own) ? there : fstatSync(this.#file)
    if (own.size < this.#size) return 'cut'
    this.#size = own.size
    return own === there ? 'whole' : 'gone'
  }

  /** Whether the path still leads to this file, and it has lost its end. */
  wasCutAt(path: string): boolean {
    const there = statOf(path)
    return isSame(there, this.#own) && there.size < this.#size
  }

  /** Whether the lock table beside the path is that of this file: another file needs one of its own. */
  hasLockOf(path: string): boolean {
    return isSame(statOf(`${path}-lock`), this.#lock) && !isSame(statOf(path), this.#own)
  }

  close(): void {
    closeSync(this.#file)
  }
}

/** Undefined where nothing can be found. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

const isSame = (one: Stats | undefined, other: Stats | undefined): one is Stats =>
  one !== undefined && one.ino === other?.ino && one.dev === other.dev
