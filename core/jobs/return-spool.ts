import { join } from 'node:path'
import { SaltError } from '../base/errors.ts'
import { Encoded, type Value } from '../codec/index.ts'
import {
  openStore,
  type Store,
  type StoreChange,
  type StoreKey,
  type StoreOptions,
  under,
} from '../store/index.ts'
import { Outbox } from './outbox.ts'
import { targetsOf, targetText } from './outbox-target.ts'
import { checkJid, type Fields, isFields } from './records.ts'
import { SeenJobs } from './seen-jobs.ts'

/** A return on its way to a master. */
export interface SpooledReturn {
  readonly jid: string
  /** What is sent (wire protocol §10.3). */
  readonly ret: Fields
  /** The address of the master that published the job, where that is known. */
  readonly master?: string
  /** The job as it was published, where that is known. */
  readonly job?: Fields
}

export interface ReturnSpoolOptions extends StoreOptions {
  /** Returners that get every return (the minion's option `return`). */
  readonly returners?: unknown
}

/** Targets of the returners that a job names (`--return`). */
export const returnersOf = (job: Fields | undefined): string[] =>
  targetsOf(job?.ret, { config: job?.ret_config, kwargs: job?.ret_kwargs }).map(targetText)

/** A return on disk. Its content is read when it is asked for, so that a long outage does not fill the memory. */
export interface SpoolEntry extends SpooledReturn {
  /** Place in the spool; of use to the spool only. */
  readonly key: StoreKey
  /** Of no other entry that is there at the same time. */
  readonly name: string
  /** Its value lies apart. */
  readonly isLarge: boolean
}

/**
 * The minion's returns between the end of a job and the master's acknowledgement. Keys: `['ret', jid, n]`, since one
 * job may leave several returns; `['value', jid, n]` → the value of a large one, which is read when it is sent; those of {@link Outbox}, for what its returners write; and those of {@link SeenJobs}. Job processes may add while
 * the minion's main process has it open.
 */
export class ReturnSpool {
  readonly #store: Store | undefined
  readonly #returners: unknown
  readonly outbox: Outbox | undefined
  readonly seen: SeenJobs | undefined

  /** A spool that holds nothing and takes nothing, for programs that have none. */
  static empty(): ReturnSpool {
    return new ReturnSpool(undefined, undefined)
  }

  /** The file inside `directory`. */
  static path(directory: string): string {
    return join(directory, 'returns.mdb')
  }

  /** @throws SaltError STORE_FAILED */
  static open(directory: string, { returners, ...options }: ReturnSpoolOptions = {}): ReturnSpool {
    return new ReturnSpool(openStore(ReturnSpool.path(directory), options), returners)
  }

  private constructor(store: Store | undefined, returners: unknown) {
    this.#store = store
    this.#returners = returners
    this.outbox = store && new Outbox(store)
    this.seen = store && new SeenJobs(store)
  }

  /**
   * Resolves when the return is on disk; one whose value is {@link Encoded} counts as large. Rejects with STORE_FAILED if it
   * cannot be, INVALID_ARGUMENTS for a bad jid.
   */
  async add(given: SpooledReturn): Promise<SpoolEntry> {
    checkJid(given.jid)
    const store = this.#opened()
    return entryOf(store, await store.change((records) => this.#put(records, given)))
  }

  /** The same for a process that cannot know what became of its job: undefined if a return of it is, or was, here. */
  async addFirst(given: SpooledReturn): Promise<SpoolEntry | undefined> {
    const { jid } = given
    checkJid(jid)
    const store = this.#opened()
    const key = await store.change((records) => {
      const [known] = records.keys(under('ret', jid))
      return known || SeenJobs.isSettled(records, jid) ? undefined : this.#put(records, given)
    })
    return key && entryOf(store, key)
  }

  #put(records: StoreChange, { jid, ret, master, job }: SpooledReturn): StoreKey {
    const [last] = records.keys(under('ret', jid), { reverse: true })
    const free = ['ret', jid, last ? Number(last[2]) + 1 : 0]
    if (ret.return instanceof Encoded) {
      records.put(valueKey(free), ret.return)
      records.put(free, { ret: { ...ret, return: null }, master, job, isLarge: true })
    } else records.put(free, { ret, master, job })
    SeenJobs.settle(records, jid)
    const { cmd, ...record } = ret
    Outbox.put(records, this.#targets(job), [{ kind: 'return', ret: record }], Date.now())
    return free
  }

  /** What has not been acknowledged, oldest job first. */
  pending(): SpoolEntry[] {
    const store = this.#store
    return store ? Array.from(store.keys(under('ret')), (key) => entryOf(store, key)) : []
  }

  /** How many have not been acknowledged. */
  get size(): number {
    return this.#store?.count(under('ret')) ?? 0
  }

  /** What another process has added. */
  at(key: StoreKey): SpoolEntry {
    return entryOf(this.#opened(), key)
  }

  /** What is sent, with the value of a large one as it was encoded; undefined if it is not whole any more. */
  read({ key }: Pick<SpoolEntry, 'key'>): Fields | undefined {
    const record = readRecord(this.#store, key)
    const ret = fieldsOf(record.ret)
    if (!record.isLarge || !ret) return ret
    const value = this.#store?.encoded(valueKey(key))
    return value && { ...ret, return: value }
  }

  /** It cannot be sent as it is: another one takes its place. `change` is given it without the value of a large one. */
  async replace({ key }: Pick<SpoolEntry, 'key'>, change: (ret: Fields) => Fields): Promise<void> {
    const { ret, master, job } = readRecord(this.#opened(), key)
    await this.#opened().change((records) => {
      records.put(key, { ret: change(fieldsOf(ret) ?? {}), master, job })
      records.remove(valueKey(key))
    })
  }

  /** The master has it: forget it. */
  async done({ key }: Pick<SpoolEntry, 'key'>): Promise<void> {
    await this.#opened().change((records) => {
      records.remove(key)
      records.remove(valueKey(key))
    })
  }

  /** The oldest return of a job that is still here. */
  first(jid: string): SpoolEntry | undefined {
    const store = this.#store
    const [key] = store?.keys(under('ret', jid)) ?? []
    return store && key && entryOf(store, key)
  }

  /** The same, as it is sent. */
  find(jid: string): Fields | undefined {
    return this.first(jid)?.ret
  }

  async close(): Promise<void> {
    await this.#store?.close()
  }

  /** Of the job and of the configuration. */
  #targets(job: Fields | undefined): string[] {
    return [...new Set([...returnersOf(job), ...targetsOf(this.#returners).map(targetText)])]
  }

  #opened(): Store {
    if (this.#store) return this.#store
    throw new SaltError('STORE_FAILED', 'This program keeps no returns.')
  }
}

const valueKey = ([, ...rest]: StoreKey): StoreKey => ['value', ...rest]

function readRecord(store: Store | undefined, key: StoreKey): Fields {
  const record = store?.get(key)
  return isFields(record) ? record : {}
}

function entryOf(store: Store, key: StoreKey): SpoolEntry {
  return {
    jid: String(key[1]),
    key,
    name: key.slice(1).join('/'),
    get isLarge() {
      return store.has(valueKey(key))
    },
    get ret() {
      const { ret, isLarge } = readRecord(store, key)
      return { ...fieldsOf(ret), ...(isLarge === true && { return: store.get(valueKey(key)) }) }
    },
    get job() {
      return fieldsOf(readRecord(store, key).job)
    },
    get master() {
      const { master } = readRecord(store, key)
      return typeof master === 'string' ? master : undefined
    },
  } as SpoolEntry
}

const fieldsOf = (value: unknown): Fields | undefined =>
  isFields(value as Value) ? (value as Fields) : undefined
