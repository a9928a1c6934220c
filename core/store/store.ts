import { messageOf, SaltError } from '../base/errors.ts'
import { decodeLazily, type Value } from '../codec/index.ts'
import { backUp } from './backup.ts'
import { CommitQueue } from './commit-queue.ts'
import { type Environment, type EnvironmentSettings, openEnvironment } from './environment.ts'
import { guardCommit } from './exit-guard.ts'
import { checkKey, type KeyRange, type StoreKey } from './key.ts'
import { roomAt } from './lmdb-file.ts'
import { seal, unseal } from './record.ts'

export interface StoreOptions {
  /** Address space for the file in bytes, 1 GiB by default. Costs no memory; grows when the file does. */
  readonly mapSize?: number
  /** Told of every damaged file or record. By default a warning of the process. */
  readonly onDamage?: (error: SaltError) => void
  /** False where what a power cut takes can be found out again: a change is there when its process is killed, not sooner on disk. */
  readonly synced?: boolean
}

interface Entry {
  readonly key: StoreKey
  readonly value: Value
}

/** Reads see the last commit, of this process or another; inside a change they see what the change has done so far. */
export interface StoreReader {
  /** Undefined if there is no such record, or if it is damaged (which is reported). */
  get(key: StoreKey): Value | undefined
  /** As `get`, where few members of a large map are wanted: each is decoded when it is looked at. Not to be passed on. */
  glance(key: StoreKey): Value | undefined
  has(key: StoreKey): boolean
  /** Keys in order. Read in pages: no snapshot is held, and what changes meanwhile may or may not be seen. */
  keys(range: KeyRange, options?: { readonly reverse?: boolean }): Iterable<StoreKey>
  entries(range: KeyRange, options?: { readonly reverse?: boolean }): Iterable<Entry>
  /** How many records there are, without reading them. */
  count(range: KeyRange): number
}

/** What a change may do. It must look before it writes: what it wrote before it throws stays. */
export interface StoreChange extends StoreReader {
  put(key: StoreKey, value: unknown): void
  remove(key: StoreKey): void
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
/** Keys that are read at once: few at first, since often only the first is wanted. */
const FIRST_PAGE = 8
const PAGE = 128

/**
 * Open or create an LMDB store in the file `path`. A damaged file is moved aside and reported, the store then has
 * those of its records that could be read.
 *
 * @throws SaltError STORE_FAILED if it cannot be opened
 */
export function openStore(path: string, options: StoreOptions = {}): Store {
  const { mapSize = GIB, onDamage = (error) => process.emitWarning(error.message), synced = true } = options
  const settings = { mapSize, synced }
  let environment = openEnvironment(path, settings, onDamage)
  let closed = false

  const records = recordsOf(() => environment, path, onDamage)
  const queue = new CommitQueue(async (run) => {
    try {
      await guardCommit(() => environment.transaction(run))
    } catch (error) {
      const reason = await reasonOf(error)
      if (!isUsable(environment)) environment = await reopen(environment, path, settings, onDamage)
      throw commitFailed(path, reason)
    }
  })

  async function change<T>(run: (records: StoreChange) => T): Promise<T> {
    if (closed) throw new SaltError('STORE_FAILED', `The store ${path} is closed.`, { path })
    return queue.add(() => run(records))
  }

  return {
    path,
    used() {
      environment.resetReadTxn() // else they may be those of the commit before
      const stats = environment.getStats() as PageCounts
      const { pageSize, treeBranchPageCount, treeLeafPageCount, overflowPages } = stats
      return pageSize * (treeBranchPageCount + treeLeafPageCount + overflowPages)
    },
    get: records.get,
    glance: records.glance,
    has: records.has,
    keys: records.keys,
    entries: records.entries,
    count: records.count,
    change,
    put: async (key, value) => {
      checkKey(key)
      const sealed = seal(value)
      await change(() => void environment.putSync([...key], sealed))
    },
    putNew: (key, value) =>
      change((records) => {
        if (records.has(key)) return false
        records.put(key, value)
        return true
      }),
    remove: (key) => change(({ remove }) => remove(key)),
    backup: (target) => backUp(environment, target),
    async close() {
      if (closed) return
      closed = true
      await queue.idle()
      await environment.close()
    },
  }
}

function recordsOf(
  environment: () => Environment,
  path: string,
  onDamage: (error: SaltError) => void,
): StoreChange {
  function get(key: StoreKey, decoder?: typeof decodeLazily): Value | undefined {
    const record = environment().get([...key])
    if (record === undefined) return undefined
    const opened = unseal(record, decoder)
    if (!opened) onDamage(damagedRecord(path, key))
    return opened?.value
  }

  function* keys({ from, to }: KeyRange, { reverse = false } = {}): Generator<StoreKey> {
    let last: StoreKey | undefined
    for (let limit = FIRST_PAGE; ; limit = PAGE) {
      const range = reverse
        ? { start: [...(last ?? to)], exclusiveStart: true, end: [...from], inclusiveEnd: true }
        : { start: [...(last ?? from)], exclusiveStart: last !== undefined, end: [...to] }
      const page = [...environment().getKeys({ ...range, reverse, limit })].map(asKey)
      yield* page
      if (page.length < limit) return
      last = page.at(-1)
    }
  }

  function* entries(range: KeyRange, options?: { reverse?: boolean }): Generator<Entry> {
    for (const key of keys(range, options)) {
      const value = get(key)
      if (value !== undefined) yield { key, value }
    }
  }

  return {
    get: (key) => get(key),
    glance: (key) => get(key, decodeLazily),
    has: (key) => environment().doesExist([...key]),
    keys,
    entries,
    count: ({ from, to }) => environment().getKeysCount({ start: [...from], end: [...to] }),
    put(key, value) {
      checkKey(key)
      environment().putSync([...key], seal(value))
    },
    remove: (key) => void environment().removeSync([...key]),
  }
}

/** lmdb gives a key of one part back without its array. */
function asKey(key: StoreKey | string | number): StoreKey {
  return typeof key === 'object' ? key : [key]
}

/** lmdb rejects with "Commit failed" and hands the reason over in a second promise. */
async function reasonOf(error: unknown): Promise<string> {
  const { commitError } = error as { commitError?: Promise<unknown> }
  if (!commitError) return messageOf(error)
  return commitError.then(() => messageOf(error), messageOf)
}

/** After some failures LMDB refuses everything until the file is opened anew. An empty transaction writes nothing. */
function isUsable(environment: Environment): boolean {
  try {
    environment.transactionSync(() => undefined)
    return true
  } catch {
    return false
  }
}

async function reopen(
  environment: Environment,
  path: string,
  settings: EnvironmentSettings,
  onDamage: (error: SaltError) => void,
): Promise<Environment> {
  await environment.close()
  return openEnvironment(path, settings, onDamage)
}

function commitFailed(path: string, reason: string): SaltError {
  const sentence = isFull(path)
    ? `The disk is full: nothing was stored in ${path}. Make room; no restart is needed.`
    : `Nothing was stored in ${path}: ${reason}. Make room or repair the disk; no restart is needed.`
  return new SaltError('STORE_FAILED', sentence, { path, reason })
}

/** No room for what a daemon writes; false where that cannot be found out. A short write shows as an "Input/output error", so the disk itself is asked. */
export function isFull(path: string): boolean {
  try {
    return roomAt(path) < 2 ** 20
  } catch {
    return false
  }
}

function damagedRecord(path: string, key: StoreKey): SaltError {
  return new SaltError(
    'STORE_FAILED',
    `The record ${JSON.stringify(key)} of the store ${path} is damaged and was left out.`,
    { path, key },
  )
}
