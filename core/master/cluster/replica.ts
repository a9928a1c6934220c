import { createHash, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Log } from '../../author/context.ts'
import { messageOf } from '../../base/errors.ts'
import { mapConcurrently } from '../../base/map-concurrently.ts'
import { onceInAWhile } from '../../base/once-in-a-while.ts'
import { isRecord } from '../../base/record.ts'
import { encodeLocal, type Value } from '../../codec/index.ts'
import { keysUnder, openStore, type Store, type StoreOptions } from '../../store/index.ts'
import type { SharedValues, StoredValue } from './shared-values.ts'
import { compareVersions, joinVersions, nextVersion, type Version } from './version.ts'

/** A kind of values that are kept equal on all masters of a cluster, such as facts about minions. */
export interface Replicated {
  /** First part of the keys. */
  readonly name: string
  /** Whether this master does not store the value itself. The replica then stores it for the next run. */
  readonly isVolatile?: boolean
  /** Return the ids that may have changed here since the last call; with `all`, all ids. */
  changed(all: boolean): Promise<readonly string[]>
  /** Return the value of an id here; undefined if there is none. */
  read(id: string): Promise<unknown>
  /**
   * Store a value of another master; undefined removes it. `here` is the value that {@link read} returned before: a change made
   * since then must be kept. Resolves with the value that {@link read} returns afterwards, unless there was such a change.
   */
  write(id: string, value: unknown, here: unknown): Promise<unknown>
  /** Merge a value that was changed here and elsewhere at the same time. Without it, the value from elsewhere is used. */
  merge?(here: unknown, elsewhere: unknown): unknown
  /**
   * Return the time at which a value expires, in milliseconds since 1970. After that neither the value nor its removal matters.
   * All values of an id expire at the same time. Without it, values never expire.
   */
  overAt?(value: unknown): number | undefined
}

/** The latest version of a value that is known here. */
interface Known {
  readonly version: Version
  readonly digest: string
  /** Digest of the value on this master. If the present value has another digest, it was changed here. */
  readonly here: string
  /** Whether the store is known to have had this version. Only then is another value there worth a message. */
  readonly isStored: boolean
  /** The value, if it is volatile. */
  readonly value?: unknown
  readonly overAt?: number
}

/** The state of a key in the store. */
interface Stored {
  readonly revision: number
  /** Whether it is the version that is known here. */
  readonly isLatest: boolean
}

interface ReplicaSettings {
  readonly shared: Pick<SharedValues, 'since' | 'put' | 'remove'>
  readonly kinds: readonly Replicated[]
  /** Name of the cluster in messages. */
  readonly cluster: string
  /** Name of this master. */
  readonly master: string
  readonly log: Log
  /** Return the time, in milliseconds since 1970. */
  now(): number
  /** How often to check whether the store has lost values, in milliseconds. */
  readonly checkMs?: number
  /** How often to read all values of the store, in milliseconds. */
  readonly readAllMs?: number
}

const PAGE = 100
/** Number of foreign values that a message names by their keys. */
const MAX_NAMED = 5
/** If a starting master had at least this many values of a kind and has none now, they were lost, not removed. */
const MIN_LOST = 10
const AT_ONCE = 32
const CHECK_MS = 10_000
const READ_ALL_MS = 300_000
/** How long expired values are kept, for masters whose clocks are slow. */
const KEEP_OVER_MS = 3_600_000

/**
 * Keeps the values of this master and those in the store of the cluster equal, in both directions. Each value has a version
 * vector, which shows whether another value was derived from it. If a value was changed in two places at the same time, the
 * change that was stored first is kept, unless its kind merges them. While the store cannot be reached, changes are held back.
 * Values that the store has lost, or has an older version of, are stored again. Keys of the replica's file: `['known', key]`, and
 * `['replica']` with its id.
 */
export class Replica {
  readonly #settings: ReplicaSettings
  readonly #kinds: ReadonlyMap<string, Replicated>
  readonly #state: Store
  readonly #report: (sentence: string, about?: string) => void
  /** The state of each key in the store. */
  #stored = new Map<string, Stored>()
  /** The latest revision that was read. */
  #revision = 0
  /** Keys of the store with a value that is not used, which the next message names. */
  readonly #foreign = new Set<string>()
  /** Id of this replica in versions, from the first exchange on. */
  #id = ''
  /** Keys whose value here may not be in the store. */
  readonly #unsent = new Set<string>()
  #mustCheckAll = true
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
    this.#report = onceInAWhile((sentence) => settings.log.error(sentence))
  }

  /** Take over the volatile values of an earlier run of this master. */
  async restore(): Promise<void> {
    for (const key of this.#knownKeys()) {
      const [kind, id] = this.#kindOf(key)
      const value = this.#knownOf(key)?.value
      if (kind?.isVolatile && value !== undefined) await kind.write(id, value, undefined)
    }
  }

  /** Take over the changes of other masters, then store the changes of this one. Rejects if the store cannot be reached. */
  async exchange(): Promise<void> {
    if (this.#id === '') this.#id = await this.#identify()
    if (this.#mustCheckAll) for (const kind of this.#kinds.values()) await this.#forgetLost(kind)
    if (performance.now() >= this.#readAllAt || (await this.#hasLost())) await this.#readAll()
    else await this.#read()
    if (await this.#send()) return
    await this.#readAll()
    await this.#send()
  }

  close(): Promise<void> {
    return this.#state.close()
  }

  /** Return the id of this replica. A file that was copied from another master gets a new id. */
  async #identify(): Promise<string> {
    const { master } = this.#settings
    const kept = this.#state.get(['replica'])
    if (isRecord(kept) && kept.master === master && typeof kept.id === 'string') return kept.id
    const id = randomBytes(6).toString('base64url')
    await this.#state.put(['replica'], { master, id })
    return id
  }

  /** Forget all values of a kind if this master has lost them since its last run, so that they are taken over and not removed elsewhere. */
  async #forgetLost(kind: Replicated): Promise<void> {
    const keys = this.#knownKeys().filter((key) => this.#kindOf(key)[0] === kind && this.#hasValue(key))
    if (keys.length < MIN_LOST) return
    for (const key of keys) if ((await kind.read(this.#kindOf(key)[1])) !== undefined) return
    for (const key of keys) await this.#state.remove(['known', key])
    this.#settings.log.error(
      `All ${keys.length} values of the kind '${kind.name}' that this master had are gone since its last run. They are not removed on the other masters of the cluster ${this.#settings.cluster}, but taken over from them. To remove them, do so while this master runs.`,
    )
  }

  #hasValue(key: string): boolean {
    const { digest, overAt = Infinity } = this.#knownOf(key) ?? {}
    return digest !== undefined && digest !== NONE && overAt > this.#settings.now()
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
    for (const key of this.#knownKeys()) {
      if (this.#isForgotten(this.#knownOf(key))) await this.#forget(key)
      else if (!this.#stored.has(key)) this.#unsent.add(key)
    }
    this.#readAllAt = performance.now() + (this.#settings.readAllMs ?? READ_ALL_MS)
    this.#checkAt = performance.now() + (this.#settings.checkMs ?? CHECK_MS)
  }

  async #read(): Promise<void> {
    if (this.#revision === 0) await this.#checkIsOurs()
    for await (const page of this.#pages(this.#revision)) {
      await mapConcurrently(page, (value) => this.#receive(value), AT_ONCE)
      this.#revision = page.at(-1)?.revision ?? this.#revision
    }
    this.#reportForeign()
  }

  /** Reject if the store has values, but none of a master with the key of this one. */
  async #checkIsOurs(): Promise<void> {
    let isEmpty = true
    for await (const page of this.#pages(0)) {
      if (page.some(({ opened }) => opened)) return
      isEmpty = false
    }
    if (!isEmpty)
      throw new Error(
        `the store has values for the cluster ${this.#settings.cluster} that no master with the key of this one has set. Give the masters the same key, or this cluster another cluster_id; if nobody else uses the name, remove the values`,
      )
  }

  /** Yield the values that the store was given after a revision. */
  async *#pages(revision: number): AsyncGenerator<StoredValue[]> {
    for (let last = revision; ; ) {
      const page = await this.#settings.shared.since(last, PAGE)
      last = page.at(-1)?.revision ?? last
      if (page.length === 0) return
      yield page
    }
  }

  async #receive({ key, revision, opened }: StoredValue): Promise<void> {
    const [kind, id] = this.#kindOf(key)
    if (!kind) return
    const known = this.#knownOf(key)
    const order = opened && (known ? compareVersions(opened.version, known.version) : 'later')
    if (opened && this.#isForgotten(order === 'earlier' ? known : opened)) return this.#forget(key, revision)
    if (!opened || order === 'earlier') return this.#replaceStored(key, revision, known)
    const digest = digestOf(opened.value)
    const version = known ? joinVersions(known.version, opened.version) : opened.version
    const isLatest = order !== 'concurrent'
    this.#stored.set(key, { revision, isLatest })
    if (order === 'same' && known?.digest === digest)
      return known.isStored ? undefined : this.#note(key, { ...known, isStored: true })
    if (!isLatest) this.#unsent.add(key)
    const here = await this.#takeOver(kind, id, known, opened.value, order !== 'later')
    await this.#note(key, { version, digest, here, isStored: isLatest, ...overAtOf(opened) })
  }

  #isForgotten(about: Pick<Known, 'overAt'> | undefined): boolean {
    return about?.overAt !== undefined && about.overAt + KEEP_OVER_MS < this.#settings.now()
  }

  /** Remove an expired value, also from the store if it is there. */
  async #forget(key: string, revision?: number): Promise<void> {
    this.#stored.delete(key)
    this.#unsent.delete(key)
    if (this.#knownOf(key)) await this.#state.remove(['known', key])
    if (revision !== undefined) await this.#settings.shared.remove(key, revision)
  }

  /**
   * Take over a value of another master, merged with a change of this master that it was not derived from. Resolves with the
   * digest of the value that this master now has; if it was merged and must be sent, with the digest of the value that was
   * received.
   */
  async #takeOver(
    kind: Replicated,
    id: string,
    known: Known | undefined,
    value: unknown,
    isConcurrent: boolean,
  ): Promise<string> {
    const here = await kind.read(id)
    const isChanged = known ? known.here !== digestOf(here) : here !== undefined
    const next = (isChanged || isConcurrent) && kind.merge ? kind.merge(here, value) : value
    const isMerged = digestOf(next) !== digestOf(value)
    if (isMerged) this.#unsent.add(keyOf(kind, id))
    if (digestOf(next) === digestOf(here)) return digestOf(value)
    const kept = await kind.write(id, next, here)
    this.#settings.log.debug('Took over {name} from another master of the cluster', { name: keyOf(kind, id) })
    return digestOf(isMerged ? value : kept)
  }

  /** Arrange for a value in the store to be replaced, because it is outdated or was not written by a master of the cluster. */
  #replaceStored(key: string, revision: number, known: Known | undefined): void {
    if (known?.isStored !== false && this.#foreign.size <= MAX_NAMED) this.#foreign.add(key)
    if (!known) return
    this.#stored.set(key, { revision, isLatest: false })
    this.#unsent.add(key)
  }

  #reportForeign(): void {
    if (this.#foreign.size === 0) return
    const [first] = this.#foreign
    const named = [...this.#foreign].slice(0, MAX_NAMED)
    this.#report(
      `The store of the cluster ${this.#settings.cluster} has values that are not used: ${named.join(', ')}${this.#foreign.size > MAX_NAMED ? ' and others' : ''}. They are outdated, or were not written by a master with the key of this one. This master replaces those that it knows.`,
      first,
    )
    this.#foreign.clear()
  }

  /** Store the changes of this master. Resolves with false if another master has changed one of the values, too. */
  async #send(): Promise<boolean> {
    for (const kind of this.#kinds.values())
      for (const id of await kind.changed(this.#mustCheckAll)) this.#unsent.add(keyOf(kind, id))
    if (this.#mustCheckAll) for (const key of this.#knownKeys()) this.#unsent.add(key)
    this.#mustCheckAll = false
    let isDone = true
    const sendOne = async (key: string) => {
      if (await this.#sendOne(key)) this.#unsent.delete(key)
      else isDone = false
    }
    await mapConcurrently([...this.#unsent], sendOne, AT_ONCE)
    return isDone
  }

  /** Store the value of a key if the store lacks it. Resolves with false if another master has changed it, too. */
  async #sendOne(key: string): Promise<boolean> {
    const [kind, id] = this.#kindOf(key)
    if (!kind) return true
    const value = await kind.read(id)
    const digest = digestOf(value)
    const [known, stored] = [this.#knownOf(key), this.#stored.get(key)]
    const isChanged = known ? known.here !== digest : value !== undefined
    if (!isChanged && (!known || stored?.isLatest)) return true
    const overAt = value === undefined ? known?.overAt : kind.overAt?.(value)
    if (overAt !== undefined && overAt <= this.#settings.now()) return true
    const isNew = known?.digest !== digest
    const version = isNew ? nextVersion(known?.version ?? {}, this.#id) : known.version
    const about = { version, ...overAtOf({ overAt }) }
    // Noted before: the store may have the value although it did not say so.
    if (isNew) await this.#note(key, { ...about, digest, here: digest, isStored: false })
    try {
      const revision = await this.#settings.shared.put(key, { ...about, value }, stored?.revision ?? 0)
      if (revision === undefined) return false
      this.#stored.set(key, { revision, isLatest: true })
      if (revision <= this.#revision) this.#readAgain()
      await this.#note(key, { ...about, digest, here: digest, isStored: true })
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'UNSAVABLE') throw error
      this.#report(
        `The cluster's store does not take ${key}, so that other masters lack it: ${messageOf(error)}`,
        key,
      )
    }
    return true
  }

  /** Read all values again: changes of other masters may have revisions that this master takes for read. */
  #readAgain(): void {
    this.#readAllAt = 0
    this.#report(
      `The store of the cluster ${this.#settings.cluster} assigns revisions that it has assigned before: it was reset to an earlier state, or another program changes it. All its values are compared.`,
    )
  }

  #kindOf(key: string): [kind: Replicated | undefined, id: string] {
    const slash = key.indexOf('/')
    return [this.#kinds.get(key.slice(0, slash)), key.slice(slash + 1)]
  }

  /** Return the known keys of the present kinds. A kind may be gone because an option was changed. */
  #knownKeys(): string[] {
    const keys = Array.from(this.#state.keys(keysUnder('known')), (key) => String(key[1]))
    return keys.filter((key) => this.#kindOf(key)[0])
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

const overAtOf = ({ overAt }: { readonly overAt?: number | undefined }) =>
  overAt === undefined ? {} : { overAt }

/** Return a digest of a value that does not depend on the order of keys. */
const digestOf = (value: unknown): string =>
  createHash('sha256')
    .update(encodeLocal(sorted(value ?? null)))
    .digest('base64url')

/** The digest of a missing value. */
const NONE = digestOf(undefined)

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isRecord(value)) return value
  const keys = Object.keys(value).sort()
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key])]))
}
