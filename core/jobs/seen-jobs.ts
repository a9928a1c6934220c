import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Value } from '../codec/index.ts'
import { openStore, type Store, type StoreChange, type StoreReader, under } from '../store/index.ts'
import { type Fields, isFields } from './records.ts'

/** A publication, as far as it tells a replay. */
export interface SeenPublication {
  /** Digest of the AES key it was encrypted with: serials start anew with every key. */
  readonly keyDigest: string
  /** Undefined from masters that do not count. */
  readonly serial: number | undefined
  readonly jid: string
  /** Milliseconds since 1970. */
  readonly now: number
}

/** A job that was accepted and has not ended: it must run, or be returned as failed with the reason. */
export interface ReceivedJob {
  readonly job: Fields & { readonly jid: string }
  /** The address of the master that published it. */
  readonly master: string
  /** Its arguments as they were typed. */
  readonly words?: unknown
  /** It may have begun: it is not to run again. */
  readonly begun: boolean
}

const DAY = 24 * 3_600_000
const KEEP_JIDS = DAY
/** No master keeps an AES key this long. */
const KEEP_SERIALS = 30 * DAY
const FORGET_AT_ONCE = 20

/**
 * The minion's memory of what it has accepted, so that a recorded publication runs never again, and what was accepted is
 * not forgotten, not even after a restart. Keys: `['serial', digest]` → `{serial, at}`, `['jid', jid]`, `['age', ms, jid]` to
 * forget by, and `['job', jid]` → {@link ReceivedJob} until its return is safe. They lie in the store of the return spool,
 * so that a job leaves as its return comes, in one change.
 */
export class SeenJobs {
  readonly #store: Store
  /** Jobs that could not be stored. */
  readonly #unstored = new Set<string>()

  /** Part of a change of the same store: the return of the job is safe. */
  static settle(records: StoreChange, jid: string): void {
    records.remove(['job', jid])
  }

  /** Whether a job was accepted here, and its return is safe. */
  static isSettled(records: StoreReader, jid: string): boolean {
    return records.has(['jid', jid]) && !records.has(['job', jid])
  }

  constructor(store: Store) {
    this.#store = store
  }

  /**
   * True once for each publication, and only when that is on disk, with what was received if it is given: the caller may
   * run the job. False for a jid that was accepted in the last 24 hours, and for a serial that is not greater than the last under the same key.
   * Rejects with STORE_FAILED; the job must not run then.
   */
  async accept({ keyDigest, serial, jid, now }: SeenPublication, received?: ReceivedJob): Promise<boolean> {
    return this.#store.change((records) => {
      if (this.#knows(records, { keyDigest, serial, jid })) return false
      records.put(['jid', jid], true)
      records.put(['age', now, jid], true)
      forgetJids(records, now - KEEP_JIDS)
      if (serial !== undefined) keepSerial(records, keyDigest, { serial, at: now })
      if (received) records.put(['job', jid], received)
      return true
    })
  }

  /** When the last job was accepted. Milliseconds since 1970. */
  get latest(): number | undefined {
    const [key] = this.#store.keys(under('age'), { reverse: true })
    return key && Number(key[1])
  }

  /** A job that waited begins: its arguments, which may be secret, are no longer kept. Resolves when that is on disk. */
  async begin(jid: string): Promise<void> {
    await this.#store.change((records) => {
      const received = readReceived(records.get(['job', jid]))
      if (received) records.put(['job', jid], begun(received))
    })
  }

  /** Nothing is owed for a job any more, though no return of it was put into the spool. */
  async settle(jid: string): Promise<void> {
    await this.#store.change((records) => SeenJobs.settle(records, jid))
  }

  /** Accepted jobs whose return is not safe, oldest first. */
  unsettled(): ReceivedJob[] {
    const all = Array.from(this.#store.entries(under('job')), ({ value }) => readReceived(value))
    return all.filter((received) => received !== undefined)
  }

  /** Take over what a version before kept in a store of its own. */
  async takeOver(file: string): Promise<void> {
    if (!existsSync(file)) return
    const old = openStore(file)
    const kept = ['serial', 'jid', 'age'].flatMap((kind) => [...old.entries(under(kind))])
    await this.#store.change((records) => {
      for (const { key, value } of kept) records.put(key, value)
    })
    await old.close()
    await rm(dirname(file), { recursive: true })
  }

  /**
   * The same while nothing can be stored: remembered only until this program ends. For what may run again then if
   * somebody has recorded it.
   */
  acceptUnstored(publication: SeenPublication): boolean {
    if (this.#knows(this.#store, publication)) return false
    this.#unstored.add(publication.jid)
    return true
  }

  #knows(
    records: StoreReader,
    { keyDigest, serial, jid }: Pick<SeenPublication, 'keyDigest' | 'serial' | 'jid'>,
  ): boolean {
    return records.has(['jid', jid]) || this.#unstored.has(jid) || isBehind(records, keyDigest, serial)
  }
}

/** As it is kept once it may have begun. */
export const begun = ({ job, master }: Omit<ReceivedJob, 'begun'>): ReceivedJob => ({
  job: { ...job, arg: [] },
  master,
  begun: true,
})

function readReceived(value: Value | undefined): ReceivedJob | undefined {
  if (!isFields(value) || !isFields(value.job) || typeof value.job.jid !== 'string') return undefined
  const { job, master, words } = value
  return { job: job as ReceivedJob['job'], master: String(master), words, begun: value.begun !== false }
}

interface LastSerial {
  readonly serial: number
  readonly at: number
}

const lastSerial = (records: StoreReader, keyDigest: string) =>
  records.get(['serial', keyDigest]) as LastSerial | undefined

function isBehind(records: StoreReader, keyDigest: string, serial: number | undefined): boolean {
  const last = lastSerial(records, keyDigest)
  return serial !== undefined && last !== undefined && serial <= last.serial
}

/** Serials of keys long gone are forgotten when a new key appears. */
function keepSerial(records: StoreChange, keyDigest: string, last: LastSerial): void {
  if (!records.has(['serial', keyDigest])) {
    for (const key of records.keys(under('serial'))) {
      const known = records.get(key) as LastSerial | undefined
      if (!known || known.at < last.at - KEEP_SERIALS) records.remove(key)
    }
  }
  records.put(['serial', keyDigest], { ...last })
}

/** A few at a time, with every job: the memory neither grows nor ever needs a long clean-up. */
function forgetJids(records: StoreChange, before: number): void {
  let left = FORGET_AT_ONCE
  for (const key of records.keys({ from: ['age'], to: ['age', before] })) {
    if (left-- === 0) return
    records.remove(['jid', String(key[2])])
    records.remove(key)
  }
}
