import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { Log } from '../../author/context.ts'
import { messageOf } from '../../base/errors.ts'
import { mapConcurrently } from '../../base/map-concurrently.ts'
import { onceInAWhile } from '../../base/once-in-a-while.ts'
import { isRecord } from '../../base/record.ts'
import { encodeLocal, type Value } from '../../codec/index.ts'
import { keysUnder, openStore, type Store, type StoreOptions } from '../../store/index.ts'
import type { SharedValues, StoredValue, Versioned } from './shared-values.ts'

/** A kind of values that all masters of a cluster are to have alike: facts about minions, or about the cluster. */
export interface Replicated {
  /** First part of the keys. */
  readonly name: string
  /** Whether the value is not kept here when the master ends, so that the replica keeps it. */
  readonly isVolatile?: boolean
  /** Return the ids that may have changed here since the last call; with `all`, all ids. */
  changed(all: boolean): Promise<readonly string[]>
  /** Return the value of an id here; undefined if there is none. */
  read(id: string): Promise<unknown>
  /** Take over a value of another master; undefined if it was removed. Resolves with the value that {@link read} returns from now on. */
  write(id: string, value: unknown): Promise<unknown>
  /** Return what becomes of a value that was changed here and elsewhere at once; by default the one from elsewhere. */
  merge?(here: unknown, elsewhere: unknown): unknown
}

/** The latest version of a value that is known here. */
interface Known {
  readonly version: number
  readonly digest: string
  /** Digest of what is here for it. Another one here is a change. */
  readonly here: string
  /** Whether another master can have it, so that a change here is one of the next version. */
  readonly isStored: boolean
  /** The value, if it is volatile. */
  readonly value?: unknown
}

/** What the store has of a key. */
interface Stored {
  readonly revision: number
  /** Whether it is the version that is known here. */
  readonly isLatest: boolean
}

interface ReplicaSettings {
  readonly shared: Pick<SharedValues, 'since' | 'put'>
  readonly kinds: readonly Replicated[]
  /** Name of the cluster in messages. */
  readonly cluster: string
  readonly log: Log
  /** How often to check whether the store has lost values, in milliseconds. */
  readonly checkMs?: number
  /** How often to read all values of the store, in milliseconds. */
  readonly readAllMs?: number
}

const PAGE = 500
const AT_ONCE = 32
const CHECK_MS = 10_000
const READ_ALL_MS = 300_000

/**
 * Keeps values on this master and in the store of the cluster the same, both ways. Each change of a value has a version, one more than
 * the version it was made from. Of a value that was changed in two places at once, the change that was stored first stays, unless its kind merges
 * them. While the store cannot be reached, changes are kept back; values that it has lost, or of which it has an earlier version,
 * are given to it again. Keys of the file of the replica: `['known', key]`.
 */
export class Replica {
  readonly #settings: ReplicaSettings
  readonly #kinds: ReadonlyMap<string, Replicated>
  readonly #state: Store
  readonly #complain: (sentence: string, about?: string) => void
  /** What the store has, by key. */
  #stored = new Map<string, Stored>()
  /** The latest revision that was read. */
  #revision = 0
  /** Keys whose value here may not be in the store. */
  readonly #unsent = new Set<string>()
  #mustLookAtAll = true
  #checkAt = 0
  #readAllAt = 0

  static path(directory: string): string {
    return join(directory, 'cluster.mdb')
  }

  /** Open the replica whose file is in `directory`. @throws SaltError STORE_FAILED */
  static open(directory: string, settings: ReplicaSettings, options?: StoreOptions): Replica {
    return new Replica(openStore(Replica.path(directory), options), settings)
  }

  private constructor(state: Store, settings: ReplicaSettings) {
    this.#settings = settings
    this.#state = state
    this.#kinds = new Map(settings.kinds.map((kind) => [kind.name, kind]))
    this.#complain = onceInAWhile((sentence) => settings.log.error(sentence))
  }

  /** Take over the volatile values of an earlier run of this master. */
  async restore(): Promise<void> {
    for (const key of this.#knownKeys()) {
      const [kind, id] = this.#kindOf(key)
      const value = this.#knownOf(key)?.value
      if (kind?.isVolatile && value !== undefined) await kind.write(id, value)
    }
  }

  /** Take over what other masters have changed, then store what has changed here. Rejects if the store cannot be reached. */
  async exchange(): Promise<void> {
    if (performance.now() >= this.#readAllAt || (await this.#hasLost())) await this.#readAll()
    else await this.#read()
    if (await this.#send()) return
    await this.#readAll()
    await this.#send()
  }

  close(): Promise<void> {
    return this.#state.close()
  }

  /** Whether the store no longer has the latest value that was read. */
  async #hasLost(): Promise<boolean> {
    if (performance.now() < this.#checkAt || this.#revision === 0) return false
    const [latest] = await this.#settings.shared.since(this.#revision - 1, 1)
    this.#checkAt = performance.now() + (this.#settings.checkMs ?? CHECK_MS)
    return latest === undefined
  }

  /** Compare all values of the store with those known here. */
  async #readAll(): Promise<void> {
    this.#revision = 0
    this.#stored = new Map()
    await this.#read()
    for (const key of this.#knownKeys()) if (!this.#stored.has(key)) this.#unsent.add(key)
    this.#readAllAt = performance.now() + (this.#settings.readAllMs ?? READ_ALL_MS)
    this.#checkAt = performance.now() + (this.#settings.checkMs ?? CHECK_MS)
  }

  async #read(): Promise<void> {
    const { shared, cluster } = this.#settings
    for (;;) {
      const page = await shared.since(this.#revision, PAGE)
      const last = page.at(-1)
      if (!last) return
      if (this.#revision === 0 && !page.some(({ opened }) => opened))
        throw new Error(
          `the store has values for the cluster ${cluster} that no master with the key of this one has set. Give the masters the same key, or this cluster another cluster_id; if nobody else uses the name, remove the values`,
        )
      await mapConcurrently(page, (value) => this.#take(value), AT_ONCE)
      this.#revision = last.revision
    }
  }

  async #take({ key, revision, opened }: StoredValue): Promise<void> {
    const [kind, id] = this.#kindOf(key)
    const known = this.#knownOf(key)
    const isLatest = opened !== undefined && opened.version >= (known?.version ?? 0)
    this.#stored.set(key, { revision, isLatest })
    if (!kind) return
    if (!isLatest) return this.#putRight(key, known)
    const { version, value } = opened
    const digest = digestOf(value)
    if (known?.version === version && known.digest === digest)
      return known.isStored ? undefined : this.#note(key, { ...known, isStored: true })
    const here = await this.#takeOver(kind, id, known, opened)
    await this.#note(key, { version, digest, here, isStored: true })
  }

  /** Take over a value, or what becomes of it together with a change here. Resolves with the digest of what is here for it. */
  async #takeOver(
    kind: Replicated,
    id: string,
    known: Known | undefined,
    opened: Versioned,
  ): Promise<string> {
    const { version, value } = opened
    const here = await kind.read(id)
    const isChanged = known ? !known.isStored || known.here !== digestOf(here) : here !== undefined
    const isBoth = isChanged || known?.version === version
    const next = isBoth && kind.merge ? kind.merge(here, value) : value
    const isMerged = digestOf(next) !== digestOf(value)
    if (isMerged) this.#unsent.add(keyOf(kind, id))
    if (digestOf(next) === digestOf(here)) return digestOf(value)
    const kept = await kind.write(id, next)
    this.#settings.log.debug('Took over {name} from another master of the cluster', { name: keyOf(kind, id) })
    return digestOf(isMerged ? value : kept)
  }

  /** Replace a value of the store that is not the latest one of a master of the cluster. */
  #putRight(key: string, known: Known | undefined): void {
    if (known?.isStored !== false)
      this.#complain(
        `The value ${key} in the store of the cluster ${this.#settings.cluster} is not used${known ? ', and replaced by that of this master' : ''}: it is not what a master with the key of this one has set last.`,
        key,
      )
    if (known) this.#unsent.add(key)
  }

  /** Store what has changed here. Resolves with false if something was changed elsewhere, too. */
  async #send(): Promise<boolean> {
    for (const kind of this.#kinds.values())
      for (const id of await kind.changed(this.#mustLookAtAll)) this.#unsent.add(keyOf(kind, id))
    if (this.#mustLookAtAll) for (const key of this.#knownKeys()) this.#unsent.add(key)
    this.#mustLookAtAll = false
    let isDone = true
    const sendOne = async (key: string) => {
      if (await this.#sendOne(key)) this.#unsent.delete(key)
      else isDone = false
    }
    await mapConcurrently([...this.#unsent], sendOne, AT_ONCE)
    return isDone
  }

  /** Store the value of a key if the store lacks it. Resolves with false if it was changed elsewhere, too. */
  async #sendOne(key: string): Promise<boolean> {
    const [kind, id] = this.#kindOf(key)
    const value = await kind?.read(id)
    const digest = digestOf(value)
    const [known, stored] = [this.#knownOf(key), this.#stored.get(key)]
    const isChanged = known ? known.here !== digest : value !== undefined
    if (!isChanged && (!known || stored?.isLatest)) return true
    const isNew = known?.digest !== digest
    const version = (known?.version ?? 0) + (isNew ? 1 : 0)
    // Noted before: the store may have the value although it did not say so.
    if (isNew) await this.#note(key, { version, digest, here: digest, isStored: false })
    try {
      const revision = await this.#settings.shared.put(key, { version, value }, stored?.revision ?? 0)
      if (revision === undefined) return false
      this.#stored.set(key, { revision, isLatest: true })
      if (revision <= this.#revision) this.#readAgain()
      await this.#note(key, { version, digest, here: digest, isStored: true })
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'UNSAVABLE') throw error
      this.#complain(
        `The cluster's store does not take ${key}, so that other masters lack it: ${messageOf(error)}`,
        key,
      )
    }
    return true
  }

  /** Changes of others may have revisions that would not be read. */
  #readAgain(): void {
    this.#readAllAt = 0
    this.#complain(
      `The store of the cluster ${this.#settings.cluster} was put back to an earlier state, or somebody else changes it: it gives out revisions that it has given out before. All its values are compared.`,
    )
  }

  #kindOf(key: string): [kind: Replicated | undefined, id: string] {
    const slash = key.indexOf('/')
    return [this.#kinds.get(key.slice(0, slash)), key.slice(slash + 1)]
  }

  #knownKeys(): string[] {
    return Array.from(this.#state.keys(keysUnder('known')), (key) => String(key[1]))
  }

  #knownOf(key: string): Known | undefined {
    return this.#state.get(['known', key]) as Known | undefined
  }

  async #note(key: string, known: Known): Promise<void> {
    const [kind, id] = this.#kindOf(key)
    const value = kind?.isVolatile ? ((await kind.read(id)) as Value) : undefined
    await this.#state.put(['known', key], { ...known, ...(value !== undefined && { value }) })
  }
}

const keyOf = ({ name }: Replicated, id: string): string => `${name}/${id}`

/** Return a digest of a value in which the order of keys does not count. */
const digestOf = (value: unknown): string =>
  createHash('sha256')
    .update(encodeLocal(sorted(value ?? null)))
    .digest('base64url')

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isRecord(value)) return value
  const keys = Object.keys(value).sort()
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key])]))
}
