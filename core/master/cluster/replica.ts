import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { Log } from '../../author/context.ts'
import { messageOf } from '../../base/errors.ts'
import { mapConcurrently } from '../../base/map-concurrently.ts'
import { onceInAWhile } from '../../base/once-in-a-while.ts'
import { encodeLocal, type Value } from '../../codec/index.ts'
import { keysUnder, openStore, type Store, type StoreOptions } from '../../store/index.ts'
import type { OpenedValue, SharedValues } from './shared-values.ts'

/** A kind of values that all masters of a cluster are to have alike: facts about minions, or about the cluster. */
export interface Replicated {
  /** First part of the keys. */
  readonly kind: string
  /** Whether the value is not kept here when the master ends, so that the replica keeps it. */
  readonly isVolatile?: boolean
  /** Return the ids that may have changed here since the last call; with `all`, all ids. */
  changed(all: boolean): Promise<readonly string[]>
  /** Return the value of an id here; undefined if there is none. */
  read(id: string): Promise<unknown>
  /** Take over a value of another master; undefined if it was removed. */
  write(id: string, value: unknown): Promise<void>
  /** Return what becomes of a value that was changed here and elsewhere at once; by default the one from elsewhere. */
  merge?(here: unknown, elsewhere: unknown): unknown
}

/** The revision of a value in the store when it was last the same here, and its digest. */
interface Synced {
  readonly revision: number
  readonly digest: string
  /** The value, if it is volatile. */
  readonly value?: unknown
}

interface ReplicaSettings {
  readonly shared: Pick<SharedValues, 'epoch' | 'since' | 'put'>
  readonly kinds: readonly Replicated[]
  readonly log: Log
  /** How often to check whether the store has lost its values, in milliseconds. */
  readonly epochMs?: number
}

const PAGE = 500
const EPOCH_MS = 10_000

/**
 * Keeps values on this master and in the store of the cluster the same, both ways. Of a value that was changed in two places at
 * once, the change that was stored first stays, unless its kind merges them. While the store cannot be reached, changes are kept
 * back; if it has lost its values, it gets those of the masters. Keys of its file: `['epoch']` of the store, `['revision']`, the last one read, and `['synced', key]`.
 */
export class Replica {
  readonly #shared: Pick<SharedValues, 'epoch' | 'since' | 'put'>
  readonly #kinds: ReadonlyMap<string, Replicated>
  readonly #state: Store
  readonly #log: Log
  readonly #epochMs: number
  readonly #complain: (sentence: string, about?: string) => void
  /** Keys whose change here is not stored yet. */
  readonly #unsent = new Set<string>()
  #mustLookAtAll = true
  #checkEpochAt = 0

  static path(directory: string): string {
    return join(directory, 'cluster.mdb')
  }

  /** Open the replica whose file is in `directory`. @throws SaltError STORE_FAILED */
  static open(directory: string, settings: ReplicaSettings, options?: StoreOptions): Replica {
    return new Replica(openStore(Replica.path(directory), options), settings)
  }

  private constructor(state: Store, { shared, kinds, log, epochMs = EPOCH_MS }: ReplicaSettings) {
    this.#epochMs = epochMs
    this.#state = state
    this.#shared = shared
    this.#kinds = new Map(kinds.map((kind) => [kind.kind, kind]))
    this.#log = log
    this.#complain = onceInAWhile((sentence) => log.error(sentence))
  }

  /** Take over the volatile values of an earlier run of this master. */
  async restore(): Promise<void> {
    for (const { key, value: synced } of this.#state.entries(keysUnder('synced'))) {
      const [kind, id] = this.#kindOf(String(key[1]))
      const { value } = synced as unknown as Synced
      if (kind?.isVolatile && value !== undefined) await kind.write(id, value)
    }
  }

  /** Take over what other masters have changed, then store what has changed here. Rejects if the store cannot be reached. */
  async exchange(): Promise<void> {
    if (performance.now() >= this.#checkEpochAt) await this.#checkEpoch()
    await this.#pull()
    if (await this.#push()) return
    await this.#pull()
    await this.#push()
  }

  close(): Promise<void> {
    return this.#state.close()
  }

  /** Forget what the store had if it has lost that. */
  async #checkEpoch(): Promise<void> {
    const epoch = await this.#shared.epoch()
    this.#checkEpochAt = performance.now() + this.#epochMs
    if (this.#state.get(['epoch']) === epoch) return
    await this.#state.change((records) => {
      for (const key of records.keys(keysUnder('synced'))) records.remove(key)
      records.put(['revision'], 0)
      records.put(['epoch'], epoch)
    })
    this.#mustLookAtAll = true
  }

  async #pull(): Promise<void> {
    let revision = Number(this.#state.get(['revision']) ?? 0)
    for (;;) {
      const page = await this.#shared.since(revision, PAGE)
      for (const value of page) await this.#take(value)
      const last = page.at(-1)
      if (!last) return
      revision = last.revision
      await this.#state.put(['revision'], revision)
    }
  }

  async #take({ key, value, revision, isGenuine, after }: OpenedValue): Promise<void> {
    const [kind, id] = this.#kindOf(key)
    const synced = this.#syncedOf(key)
    if (!kind || (synced && revision <= synced.revision)) return
    if (!isGenuine || (synced && after < synced.revision)) {
      this.#complain(
        `The cluster's value ${key} is not used, and replaced by that of this master: it is not what a master with the key of this one has set last.`,
        key,
      )
      this.#unsent.add(key)
      return this.#note(key, { revision, digest: '' })
    }
    const here = await kind.read(id)
    const hasChanged = synced ? synced.digest !== digestOf(here) : here !== undefined
    const next = hasChanged && kind.merge ? kind.merge(here, value) : value
    if (digestOf(next) !== digestOf(here)) {
      await kind.write(id, next)
      this.#log.debug('Took over {name} from another master of the cluster', { name: key })
    }
    if (next === value) return this.#note(key, { revision, digest: digestOf(await kind.read(id)) })
    this.#unsent.add(key)
    return this.#note(key, { revision, digest: digestOf(value) })
  }

  /** Resolves with false if a value was changed elsewhere, too. */
  async #push(): Promise<boolean> {
    for (const kind of this.#kinds.values())
      for (const id of await kind.changed(this.#mustLookAtAll)) this.#unsent.add(keyOf(kind, id))
    this.#mustLookAtAll = false
    let isDone = true
    await mapConcurrently([...this.#unsent], async (key) => {
      if (await this.#send(key)) this.#unsent.delete(key)
      else isDone = false
    })
    return isDone
  }

  /** Store the value of a key if it has changed here. Resolves with false if it was changed elsewhere, too. */
  async #send(key: string): Promise<boolean> {
    const [kind, id] = this.#kindOf(key)
    const value = await kind?.read(id)
    const synced = this.#syncedOf(key)
    const digest = digestOf(value)
    if (synced ? synced.digest === digest : value === undefined) return true
    try {
      const revision = await this.#shared.put(key, value, synced?.revision ?? 0)
      if (revision === undefined) return false
      await this.#note(key, { revision, digest })
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'UNSAVABLE') throw error
      this.#complain(
        `The cluster's store does not take ${key}, so that other masters lack it: ${messageOf(error)}`,
        key,
      )
    }
    return true
  }

  #kindOf(key: string): [kind: Replicated | undefined, id: string] {
    const slash = key.indexOf('/')
    return [this.#kinds.get(key.slice(0, slash)), key.slice(slash + 1)]
  }

  #syncedOf(key: string): Synced | undefined {
    return this.#state.get(['synced', key]) as Synced | undefined
  }

  async #note(key: string, synced: Synced): Promise<void> {
    const [kind, id] = this.#kindOf(key)
    const value = kind?.isVolatile ? ((await kind.read(id)) as Value) : undefined
    await this.#state.put(['synced', key], { ...synced, ...(value !== undefined && { value }) } as Value)
  }
}

const keyOf = ({ kind }: Replicated, id: string): string => `${kind}/${id}`

const digestOf = (value: unknown): string =>
  createHash('sha256')
    .update(encodeLocal(value ?? null))
    .digest('base64url')
