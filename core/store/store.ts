import { SaltError } from '../base/errors.ts'
import { backUp } from './backup.ts'
import { CommitQueue } from './commit-queue.ts'
import type { StoreChange, StoreReader } from './contract.ts'
import { checkKey, type StoreKey } from './key.ts'
import { LiveEnvironment } from './live-environment.ts'
import { seal } from './record.ts'
import { recordsOf } from './records.ts'

export interface StoreOptions {
  /** Address space for the file in bytes, 1 GiB by default. Costs no memory; grows when the file does. */
  readonly mapSize?: number
  /** Told of every damaged file or record. By default a warning of the process. */
  readonly onDamage?: (error: SaltError) => void
  /** False where what a power cut takes can be found out again: a change is there when its process is killed, not sooner on disk. */
  readonly synced?: boolean
}

/**
 * Records on disk that several processes share. Every promise resolves only when its change is on disk (fsync).
 * Values are what `core/codec` carries; as everywhere in Salt, bytes that are valid UTF-8 come back as text.
 */
export interface Store extends StoreReader {
  readonly path: string
  /** Bytes of the file that are in use; what was removed leaves room in it. */
  used(): number
  put(key: StoreKey, value: unknown): Promise<void>
  /** False, and nothing changed, if there is such a record; of several attempts at once one succeeds. */
  putNew(key: StoreKey, value: unknown): Promise<boolean>
  remove(key: StoreKey): Promise<void>
  /**
   * Run `change` alone among all processes, in the next commit. Resolves with what it gives.
   * Rejects with SaltError STORE_FAILED when the disk is full or fails: nothing of it is stored then.
   */
  change<T>(change: (records: StoreChange) => T): Promise<T>
  /**
   * Write what is in it now to another file, which can be put in its place. Gives the size in bytes. Rejects with the
   * system's or LMDB's error; no file is there then.
   */
  backup(path: string): Promise<number>
  /** Waits for changes under way. */
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
 * Open or create an LMDB store in the file `path`. A damaged file is moved aside and reported, the store then has
 * those of its records that could be read.
 *
 * @throws SaltError STORE_FAILED if it cannot be opened
 */
export function openStore(path: string, options: StoreOptions = {}): Store {
  const { mapSize = GIB, onDamage = (error) => process.emitWarning(error.message), synced = true } = options
  const live = new LiveEnvironment(path, { mapSize, synced }, onDamage)
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
      environment.resetReadTxn() // else they may be those of the commit before
      const stats = environment.getStats() as PageCounts
      const { pageSize, treeBranchPageCount, treeLeafPageCount, overflowPages } = stats
      return pageSize * (treeBranchPageCount + treeLeafPageCount + overflowPages)
    },
    get: records.get,
    glance: records.glance,
    encoded: records.encoded,
    has: records.has,
    keys: records.keys,
    entries: records.entries,
    count: records.count,
    change,
    put: async (key, value) => {
      checkKey(key)
      const sealed = seal(value)
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
