import { join } from 'node:path'
import { SaltError } from '../base/errors.ts'
import { checkJid } from '../base/jid.ts'
import { type Fields, isRecord } from '../base/record.ts'
import { Encoded, type Value } from '../codec/index.ts'
import { Outbox } from '../outbox/outbox.ts'
import { targetsOf, targetText } from '../outbox/outbox-target.ts'
import {
  keysUnder,
  openStore,
  type Store,
  type StoreChange,
  type StoreKey,
  type StoreOptions,
} from '../store/index.ts'
import { SeenJobs } from './seen-jobs.ts'

/** A return on its way to a master. */
export interface SpooledReturn {
  readonly jid: string
  /** The load that is sent (wire protocol §10.3). */
  readonly ret: Fields
  /** Address of the master that published the job, if known. */
  readonly master?: string
  /** The job as it was published, if known. */
  readonly job?: Fields
}

export interface ReturnSpoolOptions extends StoreOptions {
  /** Returners that get every return (the minion's option `return`). */
  readonly returners?: unknown
}

/** Return the outbox targets of the returners that a job names (`--return`). */
export const returnersOf = (job: Fields | undefined): string[] =>
  targetsOf(job?.ret, { config: job?.ret_config, kwargs: job?.ret_kwargs }).map(targetText)

/** A return on disk. Its content is read on access, so that the spool of a long outage does not fill the memory. */
export interface SpoolEntry extends SpooledReturn {
  /** Key in the store, for methods of the spool. */
  readonly key: StoreKey
  /** Unique among the entries that are in the spool at the same time. */
  readonly name: string
  /** True if its value is stored under a separate key. */
  readonly isLarge: boolean
}

/**
 * The minion's returns between the end of a job and the master's acknowledgement. Keys: `['ret', jid, n]`, since one job may
 * leave several returns; `['value', jid, n]` → the value of a large one, which is read when it is sent; those of
 * {@link Outbox}, for returners; and those of {@link SeenJobs}. Job processes may add returns while the minion process has it
 * open.
 */
export class ReturnSpool {
  readonly #store: Store | undefined
  readonly #returners: unknown
  readonly outbox: Outbox | undefined
  readonly seen: SeenJobs | undefined

  /** Return a spool that is always empty and rejects additions, for programs that have none. */
  static empty(): ReturnSpool {
    return new ReturnSpool(undefined, undefined)
  }

  /** Return the path of the file in `directory`. */
  static path(directory: string): string {
    return join(directory, 'returns.mdb')
  }

  /** Open the spool in `directory`. @throws SaltError STORE_FAILED */
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
   * Add a return. Resolves when it is on disk. One whose value is {@link Encoded} is stored as a large one. Rejects with
   * STORE_FAILED if it cannot be stored, with INVALID_ARGUMENTS for an invalid jid.
   */
  async add(given: SpooledReturn): Promise<SpoolEntry> {
    checkJid(given.jid)
    const store = this.#opened()
    return entryOf(store, await store.change((records) => this.#put(records, given)))
  }

  /** Add a return only if the job has no return in the spool and had none before; else resolves with undefined. */
  async addFirst(given: SpooledReturn): Promise<SpoolEntry | undefined> {
    const { jid } = given
    checkJid(jid)
    const store = this.#opened()
    const key = await store.change((records) => {
      const [known] = records.keys(keysUnder('ret', jid))
      return known || SeenJobs.isSettled(records, jid) ? undefined : this.#put(records, given)
    })
    return key && entryOf(store, key)
  }

  #put(records: StoreChange, { jid, ret, master, job }: SpooledReturn): StoreKey {
    const [last] = records.keys(keysUnder('ret', jid), { reverse: true })
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

  /** Make returns visible that other processes have added since this turn of the event loop first read the store. */
  refresh(): void {
    this.#store?.refresh()
  }

  /** Return the entries that have not been acknowledged, oldest job first. */
  pending(): SpoolEntry[] {
    const store = this.#store
    return store ? Array.from(store.keys(keysUnder('ret')), (key) => entryOf(store, key)) : []
  }

  /** Number of entries that have not been acknowledged. */
  get size(): number {
    return this.#store?.count(keysUnder('ret')) ?? 0
  }

  /** Return an entry that another process has added. */
  at(key: StoreKey): SpoolEntry {
    this.refresh()
    return entryOf(this.#opened(), key)
  }

  /** Return the load to send, with the value of a large one still encoded; undefined if it is no longer complete. */
  read({ key }: Pick<SpoolEntry, 'key'>): Fields | undefined {
    const record = readRecord(this.#store, key)
    const ret = fieldsOf(record.ret)
    if (!record.isLarge || !ret) return ret
    const value = this.#store?.getEncoded(valueKey(key))
    return value && { ...ret, return: value }
  }

  /** Replace a return that cannot be sent. `change` gets it without the value if it is large. */
  async replace({ key }: Pick<SpoolEntry, 'key'>, change: (ret: Fields) => Fields): Promise<void> {
    const { ret, master, job } = readRecord(this.#opened(), key)
    await this.#opened().change((records) => {
      records.put(key, { ret: change(fieldsOf(ret) ?? {}), master, job })
      records.remove(valueKey(key))
    })
  }

  /** Remove a return that the master has acknowledged. */
  async done({ key }: Pick<SpoolEntry, 'key'>): Promise<void> {
    await this.#opened().change((records) => {
      records.remove(key)
      records.remove(valueKey(key))
    })
  }

  /** Return the oldest entry of a job. */
  first(jid: string): SpoolEntry | undefined {
    const store = this.#store
    const [key] = store?.keys(keysUnder('ret', jid)) ?? []
    return store && key && entryOf(store, key)
  }

  /** Return the load of the oldest entry of a job. */
  find(jid: string): Fields | undefined {
    return this.first(jid)?.ret
  }

  async close(): Promise<void> {
    await this.#store?.close()
  }

  /** Return the outbox targets of the job and of the configuration. */
  #targets(job: Fields | undefined): string[] {
    return [...new Set([...returnersOf(job), ...targetsOf(this.#returners).map(targetText)])]
  }

  #opened(): Store {
    if (this.#store) return this.#store
    throw new SaltError('STORE_FAILED', 'This program has no spool for returns.')
  }
}

const valueKey = ([, ...rest]: StoreKey): StoreKey => ['value', ...rest]

function readRecord(store: Store | undefined, key: StoreKey): Fields {
  const record = store?.get(key)
  return isRecord(record) ? record : {}
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
  isRecord(value as Value) ? (value as Fields) : undefined
