import { SaltError } from '../base/errors.ts'
import { backUp } from './backup.ts'
import { CommitQueue } from './commit-queue.ts'
import type { StoreChange, StoreReader } from './contract.ts'
import { checkKey, type StoreKey } from './key.ts'
import { FollowedEnvironment } from './live-environment.ts'
import { withChecksum } from './record.ts'
import { recordsOf } from './records.ts'

export interface StoreOptions {
  /** Address space for the file, in bytes; 1 GiB by default. It takes no memory, and grows with the file. */
  readonly mapSize?: number
  /** Called for every damaged file or record. By default the process emits a warning. */
  readonly onDamage?: (error: SaltError) => void
  /**
   * Whether a commit waits for the disk; true by default. If false, a resolved change survives the end of its process, but
   * may be lost in a power failure.
   */
  readonly synced?: boolean
}

/**
 * Records on disk that several processes share. Promises resolve once their changes are on disk (fsync). Values are those
 * that `core/codec` supports; as everywhere in Salt, bytes that are valid UTF-8 are read back as text.
 */
export interface Store extends StoreReader {
  /**
   * Let the next reads see what other processes have committed until now. Otherwise they may see only what there was at the first read
   * of this turn of the event loop.
   */
  refresh(): void
  readonly path: string
  /** Return the bytes of the file that are in use. Removed records leave free space in it. */
  used(): number
  put(key: StoreKey, value: unknown): Promise<void>
  /**
   * Put a record that must not exist. Resolves with false, and changes nothing, if it does. Of several attempts at once
   * one succeeds.
   */
  putNew(key: StoreKey, value: unknown): Promise<boolean>
  remove(key: StoreKey): Promise<void>
  /**
   * Run `change` in the next commit, exclusively among all processes. Resolves with its result. Rejects with SaltError
   * STORE_FAILED if the disk is full or fails; nothing is stored then.
   */
  change<T>(change: (records: StoreChange) => T): Promise<T>
  /**
   * Write the present records to another file, which is a complete store. Resolves with its size in bytes. Rejects with the
   * system's or LMDB's error; the file does not exist then.
   */
  backup(path: string): Promise<number>
  /** Wait for pending changes, and close the store. */
  close(): Promise<void>
}

interface PageCounts {
  readonly pageSize: number
  readonly treeBranchPageCount: number
  readonly treeLeafPageCount: number
  readonly overflowPages: number
}

const GIB = 2 ** 30

/**
 * Open or create an LMDB store in the file `path`. A damaged file is moved aside and reported; the store then has the
 * records that could be read.
 *
 * @throws SaltError STORE_FAILED if it cannot be opened
 */
export function openStore(path: string, options: StoreOptions = {}): Store {
  const { mapSize = GIB, onDamage = (error) => process.emitWarning(error.message), synced = true } = options
  const live = new FollowedEnvironment(path, { mapSize, synced }, onDamage)
  const records = recordsOf(() => live.current(), path, onDamage)
  const queue = new CommitQueue((run) => live.commit(run))
  let closed = false

  async function change<T>(run: (records: StoreChange) => T): Promise<T> {
    if (closed) throw new SaltError('STORE_FAILED', `The store ${path} is closed.`, { path })
    return queue.add(() => run(records))
  }

  return {
    path,
    used() {
      const environment = live.current()
      environment.resetReadTxn() // otherwise the numbers may be those of the previous commit
      const stats = environment.getStats() as PageCounts
      const { pageSize, treeBranchPageCount, treeLeafPageCount, overflowPages } = stats
      return pageSize * (treeBranchPageCount + treeLeafPageCount + overflowPages)
    },
    refresh: () => live.current().resetReadTxn(),
    get: records.get,
    getLazy: records.getLazy,
    getEncoded: records.getEncoded,
    has: records.has,
    keys: records.keys,
    entries: records.entries,
    count: records.count,
    change,
    put: async (key, value) => {
      checkKey(key)
      const sealed = withChecksum(value)
      await change(() => void live.current().putSync([...key], sealed))
    },
    putNew: (key, value) =>
      change((records) => {
        if (records.has(key)) return false
        records.put(key, value)
        return true
      }),
    remove: (key) => change(({ remove }) => remove(key)),
    backup: (target) => backUp(live.current(), target),
    async close() {
      if (closed) return
      closed = true
      await queue.idle()
      await live.close()
    },
  }
}
