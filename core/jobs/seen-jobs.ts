import { join } from 'node:path'
import {
  openStore,
  type Store,
  type StoreChange,
  type StoreOptions,
  type StoreReader,
  under,
} from '../store/index.ts'

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

const DAY = 24 * 3_600_000
const KEEP_JIDS = DAY
/** No master keeps an AES key this long. */
const KEEP_SERIALS = 30 * DAY
const FORGET_AT_ONCE = 20

/**
 * The minion's memory of what it has run, so that a recorded publication runs never again, not even after a restart.
 * Keys: `['serial', digest]` → `{serial, at}`, `['jid', jid]`, and `['age', ms, jid]` to forget by.
 */
export class SeenJobs {
  readonly #store: Store
  /** Jobs that could not be stored. */
  readonly #unstored = new Set<string>()

  /** The file inside `directory`. */
  static path(directory: string): string {
    return join(directory, 'jobs.mdb')
  }

  /** @throws SaltError STORE_FAILED */
  static open(directory: string, options?: StoreOptions): SeenJobs {
    return new SeenJobs(openStore(SeenJobs.path(directory), options))
  }

  private constructor(store: Store) {
    this.#store = store
  }

  /**
   * True once for each publication, and only when that is on disk: the caller may run the job. False for a jid that
   * was accepted in the last 24 hours, and for a serial that is not greater than the last under the same key.
   * Rejects with STORE_FAILED; the job must not run then.
   */
  async accept({ keyDigest, serial, jid, now }: SeenPublication): Promise<boolean> {
    return this.#store.change((records) => {
      if (this.#knows(records, { keyDigest, serial, jid })) return false
      records.put(['jid', jid], true)
      records.put(['age', now, jid], true)
      forgetJids(records, now - KEEP_JIDS)
      if (serial !== undefined) keepSerial(records, keyDigest, { serial, at: now })
      return true
    })
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

  close(): Promise<void> {
    return this.#store.close()
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
