import { join } from 'node:path'
import { isRecord } from '../base/record.ts'
import { keysUnder, openStore, type Store, type StoreOptions, type StoreReader } from '../store/index.ts'

/** Which masters above a job came from: `['job', jid]` → {at, masters}. */
export class Origins {
  readonly #store: Store

  /** Open the store in `directory`. @throws SaltError STORE_FAILED */
  static open(directory: string, options?: StoreOptions): Origins {
    return new Origins(openStore(join(directory, 'origins.mdb'), options))
  }

  private constructor(store: Store) {
    this.#store = store
  }

  /** Return the masters that published a job; none for one of the master below. */
  of(jid: string): readonly string[] {
    return mastersOf(this.#store, jid)
  }

  /** Note that a master has published a job. Resolves with false if that was known. */
  async note(jid: string, master: string, at: number): Promise<boolean> {
    return this.#store.change((records) => {
      const masters = mastersOf(records, jid)
      if (masters.includes(master)) return false
      records.put(['job', jid], { at, masters: [...masters, master] })
      return true
    })
  }

  /** Forget the jobs that came before a moment, in milliseconds since 1970. */
  async expire(before: number): Promise<void> {
    const old = Array.from(this.#store.entries(keysUnder('job'))).filter(
      ({ value }) => isRecord(value) && Number(value.at) < before,
    )
    if (old.length > 0)
      await this.#store.change((records) => {
        for (const { key } of old) records.remove(key)
      })
  }

  close(): Promise<void> {
    return this.#store.close()
  }
}

function mastersOf(records: Pick<StoreReader, 'get'>, jid: string): readonly string[] {
  const known = records.get(['job', jid])
  return isRecord(known) && Array.isArray(known.masters) ? (known.masters as string[]) : []
}
