import { readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { DataChange } from '../author/context.ts'
import { messageOf, SaltError } from '../base/errors.ts'
import { writeFileAtomic } from '../base/files/atomic-file.ts'
import { type Fields, isRecord } from '../base/record.ts'
import { decode, encodeLocal } from '../codec/index.ts'

/**
 * The values that the functions `data.*` keep on a minion: a MessagePack map in the file `datastore` of its `cachedir`,
 * as in Salt. Changes by one process are made one after another.
 */
export class Datastore {
  readonly #path: string
  #last: Promise<unknown> = Promise.resolve()

  constructor(cachedir: string) {
    this.#path = join(cachedir, 'datastore')
  }

  /** Return all values; empty if there is no file yet. Throws STORE_FAILED if the file is unusable. */
  read(): Fields {
    try {
      const kept = decode(readFileSync(this.#path))
      if (isRecord(kept)) return kept
      throw new Error('it does not contain a map')
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return {}
      throw failed(this.#path, 'read', cause)
    }
  }

  /** Resolves with false, without a change, if the value differs from `expect`. Rejects with STORE_FAILED. */
  change(change: DataChange): Promise<boolean> {
    const done = this.#last.then(() => this.#change(change))
    this.#last = done.catch(() => {})
    return done
  }

  async #change({ replace, put = {}, remove = [], expect }: DataChange): Promise<boolean> {
    const kept = replace ?? this.read()
    if (expect && !(Object.hasOwn(kept, expect.key) && isDeepStrictEqual(kept[expect.key], expect.value)))
      return false
    const rest = Object.entries(kept).filter(([key]) => !remove.includes(key))
    const next = Object.fromEntries([...rest, ...Object.entries(put)])
    try {
      await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 })
      await writeFileAtomic(this.#path, encodeLocal(next), { mode: 0o600 })
      return true
    } catch (cause) {
      throw failed(this.#path, 'written', cause)
    }
  }
}

const failed = (path: string, what: string, cause: unknown): SaltError =>
  new SaltError('STORE_FAILED', `The datastore ${path} cannot be ${what}: ${messageOf(cause)}`, {}, { cause })
