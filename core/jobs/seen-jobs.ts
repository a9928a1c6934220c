import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type Fields, isRecord } from '../base/record.ts'
import type { Value } from '../codec/index.ts'
import { keysUnder, openStore, type Store, type StoreChange, type StoreReader } from '../store/index.ts'

/** The fields of a publication by which a replay is detected. */
export interface SeenPublication {
  /** Digest of the AES key it was encrypted with. Serials begin again with every key. */
  readonly keyDigest: string
  /** Undefined for masters that send no serials. */
  readonly serial: number | undefined
  readonly jid: string
  /** Milliseconds since 1970. */
  readonly now: number
}

/** A job that was accepted and has not ended. It must run, or get a failed return with the reason. */
export interface PendingJob {
  readonly job: Fields & { readonly jid: string }
  /** Address of the master that published it. */
  readonly master: string
  /** Its arguments as the user typed them. */
  readonly words?: unknown
  /** True if it may have begun, so that it must not run again. */
  readonly begun: boolean
}

const DAY_MS = 24 * 3_600_000
const KEEP_JIDS_MS = DAY_MS
/** Longer than any master keeps an AES key. */
const KEEP_SERIALS_MS = 30 * DAY_MS
/** Maximum number of expired jids that are removed with each accepted job. */
const FORGET_AT_ONCE = 20
/** Maximum number of jids that are kept in memory while the disk cannot be written. */
const MAX_UNSTORED = 10_000

/**
 * The minion's record of accepted publications, so that a replayed one never runs again and an accepted one is not lost, even
 * after a restart. Keys: `['serial', digest]` → `{serial, at}`, `['jid', jid]`, `['age', ms, jid]` for expiry, and
 * `['job', jid]` → {@link PendingJob} until its return is persisted. They are in the store of the return spool, so that one
 * transaction removes the job and adds its return.
 */
export class SeenJobs {
  readonly #store: Store
  /** Jids of jobs that were accepted without a record on disk, the oldest first. */
  readonly #unstored = new Set<string>()

  /** Settle a job within a transaction of the same store: its return is persisted. */
  static settle(records: StoreChange, jid: string): void {
    records.remove(['job', jid])
  }

  /** Whether a job was accepted and its return is persisted. */
  static isSettled(records: StoreReader, jid: string): boolean {
    return records.has(['jid', jid]) && !records.has(['job', jid])
  }

  constructor(store: Store) {
    this.#store = store
  }

  /**
   * Accept a publication. Resolves with true, once for each publication, when it is on disk, together with `received`; the
   * caller may then run the job. Resolves with false for a jid that was accepted in the last 24 hours, and for a serial that is
   * not greater than the last one under the same key. Rejects with STORE_FAILED; the job must not run then.
   */
  async accept({ keyDigest, serial, jid, now }: SeenPublication, received?: PendingJob): Promise<boolean> {
    return this.#store.change((records) => {
      if (this.#hasSeen(records, { keyDigest, serial, jid })) return false
      records.put(['jid', jid], true)
      records.put(['age', now, jid], true)
      forgetJids(records, now - KEEP_JIDS_MS)
      if (serial !== undefined) keepSerial(records, keyDigest, { serial, at: now })
      if (received) records.put(['job', jid], received)
      return true
    })
  }

  /** Time at which the last job was accepted, in milliseconds since 1970. */
  get latest(): number | undefined {
    const [key] = this.#store.keys(keysUnder('age'), { reverse: true })
    return key && Number(key[1])
  }

  /** Record that a waiting job begins, and remove its arguments, which may be secret. Resolves when that is on disk. */
  async begin(jid: string): Promise<void> {
    await this.#store.change((records) => {
      const received = readReceived(records.get(['job', jid]))
      if (received) records.put(['job', jid], markBegun(received))
    })
  }

  /** Settle a job whose return was not put into the spool and needs no delivery. */
  async settle(jid: string): Promise<void> {
    await this.#store.change((records) => SeenJobs.settle(records, jid))
  }

  /** Whether a job was accepted and its return is persisted; it may have been delivered since. */
  isSettled(jid: string): boolean {
    return SeenJobs.isSettled(this.#store, jid)
  }

  /** Return the accepted jobs whose return is not persisted, oldest first. */
  unsettled(): PendingJob[] {
    const all = Array.from(this.#store.entries(keysUnder('job')), ({ value }) => readReceived(value))
    return all.filter((received) => received !== undefined)
  }

  /** Import the records of an earlier version, which had a separate store, and remove that store. */
  async importFrom(file: string): Promise<void> {
    if (!existsSync(file)) return
    const old = openStore(file)
    const kept = ['serial', 'jid', 'age'].flatMap((kind) => [...old.entries(keysUnder(kind))])
    await this.#store.change((records) => {
      for (const { key, value } of kept) records.put(key, value)
    })
    await old.close()
    await rm(dirname(file), { recursive: true })
  }

  /**
   * Accept a publication in memory only, while the disk cannot be written. Only for jobs that do no harm if a replay runs them
   * after a restart.
   */
  acceptUnstored(publication: SeenPublication): boolean {
    if (this.#hasSeen(this.#store, publication)) return false
    this.#unstored.add(publication.jid)
    const [oldest] = this.#unstored
    if (this.#unstored.size > MAX_UNSTORED && oldest !== undefined) this.#unstored.delete(oldest)
    return true
  }

  #hasSeen(
    records: StoreReader,
    { keyDigest, serial, jid }: Pick<SeenPublication, 'keyDigest' | 'serial' | 'jid'>,
  ): boolean {
    return records.has(['jid', jid]) || this.#unstored.has(jid) || isBehind(records, keyDigest, serial)
  }
}

/** Return the record of a job that may have begun: without its arguments. */
export const markBegun = ({ job, master }: Omit<PendingJob, 'begun'>): PendingJob => ({
  job: { ...job, arg: [] },
  master,
  begun: true,
})

function readReceived(value: Value | undefined): PendingJob | undefined {
  if (!isRecord(value) || !isRecord(value.job) || typeof value.job.jid !== 'string') return undefined
  const { job, master, words } = value
  return {
    job: job as PendingJob['job'],
    master: typeof master === 'string' ? master : '',
    words,
    begun: value.begun !== false,
  }
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

/** Store the last serial of a key. When a key is new, remove the serials of expired keys. */
function keepSerial(records: StoreChange, keyDigest: string, last: LastSerial): void {
  if (!records.has(['serial', keyDigest])) {
    for (const key of records.keys(keysUnder('serial'))) {
      const known = records.get(key) as LastSerial | undefined
      if (!known || known.at < last.at - KEEP_SERIALS_MS) records.remove(key)
    }
  }
  records.put(['serial', keyDigest], { ...last })
}

/** Remove a few expired jids. Called with every job, so that the store does not grow and needs no long clean-up. */
function forgetJids(records: StoreChange, before: number): void {
  let left = FORGET_AT_ONCE
  for (const key of records.keys({ from: ['age'], to: ['age', before] })) {
    if (left-- === 0) return
    records.remove(['jid', String(key[2])])
    records.remove(key)
  }
}
