import { readFileSync, statSync } from 'node:fs'
import { mkdir, readdir, readFile, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { createFileExclusive, writeFileAtomic } from '../base/atomic-file.ts'
import { isMinionId, type MinionId } from '../base/minion-id.ts'

export type KeyState = 'accepted' | 'pending' | 'rejected' | 'denied'

/** Salt's folders (wire protocol §14.2), the one that decides first. */
export const keyFolders = {
  rejected: 'minions_rejected',
  accepted: 'minions',
  pending: 'minions_pre',
  denied: 'minions_denied',
} as const satisfies Record<KeyState, string>

export const keyStates = Object.keys(keyFolders) as KeyState[]

/** Left behind by a crash in the middle of a write. */
const temporary = /^\.tmp-/

/** The public keys of minions, as files: one per id and state, content the PEM text. Only checked ids become paths. */
export class KeyFiles {
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

  /** Differs whenever the file is another one; undefined if there is none. */
  stamp(state: KeyState, id: MinionId): string | undefined {
    const stats = statSync(this.#path(state, id), { bigint: true, throwIfNoEntry: false })
    return stats && `${stats.ino} ${stats.mtimeNs} ${stats.size}`
  }

  /** False if there is one already. */
  async create(state: KeyState, id: MinionId, pem: string): Promise<boolean> {
    await this.#makeFolder(state)
    return createFileExclusive(this.#path(state, id), pem)
  }

  async replace(state: KeyState, id: MinionId, pem: string): Promise<void> {
    await this.#makeFolder(state)
    await writeFileAtomic(this.#path(state, id), pem)
  }

  /** False if there was none. */
  async remove(state: KeyState, id: MinionId): Promise<boolean> {
    return unlink(this.#path(state, id)).then(
      () => true,
      (error) => undefinedIfMissing(error) ?? false,
    )
  }

  /** Ids in order. */
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
