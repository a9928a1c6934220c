import { lstatSync, readFileSync, statSync } from 'node:fs'
import { mkdir, readdir, readFile, rmdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { createFileExclusive, writeFileAtomic } from '../base/files/atomic-file.ts'
import { irregularityOf } from '../base/files/regular-file.ts'
import { isMinionId, type MinionId } from '../base/minion-id.ts'

export type KeyState = 'accepted' | 'pending' | 'rejected' | 'denied'

/** The folder of each key state (wire protocol §14.2), in order of precedence: the first that has a key decides. */
export const keyFolders = {
  rejected: 'minions_rejected',
  accepted: 'minions',
  pending: 'minions_pre',
  denied: 'minions_denied',
} as const satisfies Record<KeyState, string>

export const keyStates = Object.keys(keyFolders) as KeyState[]

/** The states that decide whether a minion may make requests. */
const DECIDING = ['rejected', 'accepted'] as const
/** A folder that was changed so short a time ago may be changed again without another time of its change. */
const SETTLE_MS = 100

/** Matches files that a crash left behind in the middle of a write. */
const temporary = /^\.tmp-/

/** Whether the text may be a key: damaged files are empty, or have other bytes. */
const isPem = (text: string): boolean => /^\s*-----BEGIN [A-Z ]+-----/.test(text)

/** Read a key file; an empty text if it is no regular file, and undefined if there is none. */
export async function readKeyText(path: string): Promise<string | undefined> {
  return irregularityOf(path) ? '' : readFile(path, 'utf8').catch(undefinedIfMissing)
}

/** Return what is wrong with a key file that has this text, in words that begin with its path; undefined if it may hold a key. */
export function keyFileDamage(path: string, text: string): string | undefined {
  if (isPem(text)) return undefined
  return `${path} ${irregularityOf(path) ?? (text.trim() === '' ? 'is empty' : 'holds no key')}`
}

/** Looks at key folders to learn whether a file was added, removed or replaced. One that is overwritten in its place is not noticed. */
export class KeyFolderTimes {
  readonly #folders: readonly string[]
  readonly #settleMs: number
  #times = ''

  /** A folder that was changed less than `settleMs` ago may be changed again without another time of its change. */
  constructor(pkiDir: string, states: readonly KeyState[], settleMs: number) {
    this.#folders = states.map((state) => join(pkiDir, keyFolders[state]))
    this.#settleMs = settleMs
  }

  /** Whether a folder has changed since the last call, or so recently that its time cannot show it. */
  haveChanged(): boolean {
    const times = this.#folders.map((folder) => statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0)
    const before = this.#times
    this.#times = times.join()
    return this.#times !== before || Math.max(...times) >= Date.now() - this.#settleMs
  }
}

/** The public keys of minions as PEM files, one per id and state. Only validated ids become paths. */
export class KeyFileStore {
  readonly #pkiDir: string
  #changes = 0
  readonly #deciding: KeyFolderTimes
  #hasLooked = false

  constructor(pkiDir: string) {
    this.#pkiDir = pkiDir
    this.#deciding = new KeyFolderTimes(pkiDir, DECIDING, SETTLE_MS)
  }

  /** Read a key; an empty text if its file is no regular one, and undefined if there is none. */
  async read(state: KeyState, id: MinionId): Promise<string | undefined> {
    return readKeyText(this.path(state, id))
  }

  readSync(state: KeyState, id: MinionId): string | undefined {
    const path = this.path(state, id)
    const absent = { throwIfNoEntry: false }
    const found = statSync(path, absent) ?? lstatSync(path, absent) // a link that leads nowhere is no absent file
    if (!found?.isFile()) return found ? '' : undefined
    try {
      return readFileSync(path, 'utf8')
    } catch (error) {
      return undefinedIfMissing(error)
    }
  }

  /** Return a text that changes whenever the file is replaced; undefined if there is no file. */
  stamp(state: KeyState, id: MinionId): string | undefined {
    const stats = statSync(this.path(state, id), { bigint: true, throwIfNoEntry: false })
    return stats && `${stats.ino} ${stats.mtimeNs} ${stats.size}`
  }

  /**
   * Return a number that is greater whenever a file was added to the folders of accepted and rejected keys, or removed or replaced
   * there. They are looked at once in a turn of the event loop. A file that is overwritten in its place is not noticed.
   */
  changes(): number {
    if (this.#hasLooked) return this.#changes
    this.#hasLooked = true
    setImmediate(() => {
      this.#hasLooked = false
    })
    if (this.#deciding.haveChanged()) this.#changes++
    return this.#changes
  }

  /** Return the time at which a key got this state, in milliseconds since 1970; undefined if it is not in it. */
  since(state: KeyState, id: MinionId): number | undefined {
    return statSync(this.path(state, id), { throwIfNoEntry: false })?.mtimeMs
  }

  /** Create a key file. Resolves with false if there is one already. */
  async create(state: KeyState, id: MinionId, pem: string): Promise<boolean> {
    return this.#inFolder(state, () => createFileExclusive(this.path(state, id), pem))
  }

  async replace(state: KeyState, id: MinionId, pem: string): Promise<void> {
    await this.#inFolder(state, () => writeFileAtomic(this.path(state, id), pem))
  }

  /** Delete a key file, or an empty folder in its place. Resolves with false if there was none. */
  async remove(state: KeyState, id: MinionId): Promise<boolean> {
    const path = this.path(state, id)
    return unlink(path)
      .catch((error) => (error.code === 'EISDIR' ? rmdir(path) : Promise.reject(error)))
      .then(
        () => true,
        (error) => undefinedIfMissing(error) ?? false,
      )
      .finally(() => this.#changes++)
  }

  /** List the ids with a key in this state, sorted. */
  async list(state: KeyState): Promise<MinionId[]> {
    const names = await readdir(this.#folder(state)).catch(undefinedIfMissing)
    return (names ?? []).filter((name): name is MinionId => isMinionId(name) && !temporary.test(name)).sort()
  }

  path(state: KeyState, id: MinionId): string {
    return join(this.#folder(state), id)
  }

  #folder(state: KeyState): string {
    return join(this.#pkiDir, keyFolders[state])
  }

  /** Write into the folder of a state, which is made if it is missing. */
  #inFolder<T>(state: KeyState, write: () => Promise<T>): Promise<T> {
    const writeAgain = async (error: unknown) => {
      undefinedIfMissing(error)
      await mkdir(this.#folder(state), { recursive: true, mode: 0o700 })
      return write()
    }
    return write()
      .catch(writeAgain)
      .finally(() => this.#changes++)
  }
}

function undefinedIfMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  return undefined
}
