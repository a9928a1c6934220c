import { readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { DataChange } from '../author/context.ts'
import { SaltError } from '../base/errors.ts'
import { writeFileAtomic } from '../base/files/atomic-file.ts'
import { fileProblem } from '../base/files/file-problem.ts'
import { type Fields, isMapping, type Mapping } from '../base/record.ts'
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

  /** Return all values by name; empty if there is no file yet. Throws STORE_FAILED if the file is unusable. */
  read(): Fields {
    return Object.fromEntries([...this.#read()].map(([key, value]) => [String(key), value]))
  }

  /** List the names as they were given, such as numbers, the first one stored first. Throws STORE_FAILED. */
  keys(): unknown[] {
    return [...this.#read().keys()]
  }

  #read(): Map<unknown, unknown> {
    try {
      const kept: unknown = decode(readFileSync(this.#path))
      if (isMapping(kept)) return mapOf(kept)
      throw new Error('it does not contain a map')
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return new Map()
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
    const next = replace ? mapOf(replace) : this.#read()
    if (expect) {
      const key = sameKey(next, expect.key)
      if (!next.has(key) || !isDeepStrictEqual(next.get(key), expect.value)) return false
    }
    for (const key of remove) next.delete(sameKey(next, key))
    for (const [key, value] of mapOf(put)) next.set(sameKey(next, key), value)
    try {
      await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 })
      await writeFileAtomic(this.#path, encodeLocal(next), { mode: 0o600 })
      return true
    } catch (cause) {
      throw failed(this.#path, 'written', cause)
    }
  }
}

const mapOf = (map: Mapping): Map<unknown, unknown> =>
  new Map<unknown, unknown>(map instanceof Map ? map : Object.entries(map))

/** Return the key that a map has with the same text, else the key itself: the names 5 and '5' are one. */
const sameKey = (map: ReadonlyMap<unknown, unknown>, key: unknown): unknown =>
  map.has(key) ? key : ([...map.keys()].find((other) => String(other) === String(key)) ?? key)

const failed = (path: string, what: string, cause: unknown): SaltError =>
  new SaltError(
    'STORE_FAILED',
    `The datastore ${path} cannot be ${what}: ${fileProblem(cause)}`,
    {},
    { cause },
  )
