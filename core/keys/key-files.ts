import { readFileSync, statSync } from 'node:fs'
import { mkdir, readdir, readFile, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { createFileExclusive, writeFileAtomic } from '../base/files/atomic-file.ts'
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

/** Matches files that a crash left behind in the middle of a write. */
const temporary = /^\.tmp-/

/** The public keys of minions as PEM files, one per id and state. Only validated ids become paths. */
export class KeyFileStore {
  readonly #pkiDir: string

  constructor(pkiDir: string) {
    this.#pkiDir = pkiDir
  }

  async read(state: KeyState, id: MinionId): Promise<string | undefined> {
    return readFile(this.#path(state, id), 'utf8').catch(undefinedIfMissing)
  }

  readSync(state: KeyState, id: MinionId): string | undefined {
    try {
      return readFileSync(this.#path(state, id), 'utf8')
    } catch (error) {
      return undefinedIfMissing(error)
    }
  }

  /** Return a text that changes whenever the file is replaced; undefined if there is no file. */
  stamp(state: KeyState, id: MinionId): string | undefined {
    const stats = statSync(this.#path(state, id), { bigint: true, throwIfNoEntry: false })
    return stats && `${stats.ino} ${stats.mtimeNs} ${stats.size}`
  }

  /** Return the time at which a key got this state, in milliseconds since 1970; undefined if it is not in it. */
  since(state: KeyState, id: MinionId): number | undefined {
    return statSync(this.#path(state, id), { throwIfNoEntry: false })?.mtimeMs
  }

  /** Create a key file. Resolves with false if there is one already. */
  async create(state: KeyState, id: MinionId, pem: string): Promise<boolean> {
    await this.#makeFolder(state)
    return createFileExclusive(this.#path(state, id), pem)
  }

  async replace(state: KeyState, id: MinionId, pem: string): Promise<void> {
    await this.#makeFolder(state)
    await writeFileAtomic(this.#path(state, id), pem)
  }

  /** Delete a key file. Resolves with false if there was none. */
  async remove(state: KeyState, id: MinionId): Promise<boolean> {
    return unlink(this.#path(state, id)).then(
      () => true,
      (error) => undefinedIfMissing(error) ?? false,
    )
  }

  /** List the ids with a key in this state, sorted. */
  async list(state: KeyState): Promise<MinionId[]> {
    const names = await readdir(this.#folder(state)).catch(undefinedIfMissing)
    return (names ?? []).filter((name): name is MinionId => isMinionId(name) && !temporary.test(name)).sort()
  }

  #folder(state: KeyState): string {
    return join(this.#pkiDir, keyFolders[state])
  }

  #path(state: KeyState, id: MinionId): string {
    return join(this.#folder(state), id)
  }

  async #makeFolder(state: KeyState): Promise<void> {
    await mkdir(this.#folder(state), { recursive: true, mode: 0o700 })
  }
}

function undefinedIfMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  return undefined
}
