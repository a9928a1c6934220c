import type { BatchMemberState, BatchStatus } from '../author/context.ts'
import { type Fields, isRecord } from '../base/record.ts'
import { keysUnder, type Store, type StoreChange, type StoreReader } from '../store/index.ts'
import type { BatchSize } from './batch-size.ts'

/** A batch as it was requested. */
export interface BatchOrder {
  readonly fun: string | readonly string[]
  readonly arg: readonly unknown[]
  /** The arguments with secret ones masked. */
  readonly shownArg: readonly unknown[]
  /** The arguments as the user typed them, if they contain more information than `arg`. */
  readonly words?: unknown
  readonly user: string
  readonly owner?: string | undefined
  readonly ret: string
  /** Further fields for the minions, without `metadata`. */
  readonly extras: Fields
  readonly metadata: Fields
  readonly size: BatchSize
  readonly mayFail?: BatchSize
  readonly failhard: boolean
  readonly waitMs: number
  readonly timeoutMs: number
  readonly gatherMs: number
  readonly pingMs: number
  /** Seconds in which minions that are away still get the job. */
  readonly deliverWithin?: number
}

export interface Member {
  readonly state: BatchMemberState
  /** Jid of the job that was published to it. */
  readonly wave?: string
}

export interface StoredBatch {
  readonly jid: string
  readonly order: BatchOrder
  /** Undefined until the available minions are known. */
  readonly begun: { readonly ping: string; readonly slots: number; readonly mayFail?: number } | undefined
  readonly members: ReadonlyMap<string, Member>
}

/**
 * Batches that a master runs, in the store of its job cache. Keys: `['batch', jid]` → the order and its progress,
 * `['member', jid, id]` → {@link Member}, `['batch-open', jid]` until it is done, `['batch-stop', jid]` → the reason why no
 * more minions are started. Arguments, which may be secret, are kept only while they may still be sent to minions.
 */
export class Batches {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  /** Add a batch. Resolves when it is on disk; from then on it will run. */
  async add(jid: string, order: BatchOrder, minions: readonly string[]): Promise<void> {
    await this.#store.change((records) => {
      records.put(['batch', jid], { order, fun: order.fun, user: order.user, owner: order.owner })
      for (const id of minions) records.put(['member', jid, id], { state: 'down' })
      records.put(['batch-open', jid], true)
    })
  }

  /** Return the jids of the batches that are not done. */
  open(): string[] {
    return Array.from(this.#store.keys(keysUnder('batch-open')), (key) => String(key[1]))
  }

  /** Return a batch; undefined if there is none with this jid or it is done. */
  load(jid: string): StoredBatch | undefined {
    const record = recordOf(this.#store, jid)
    const order = orderOf(record)
    if (!order) return undefined
    return {
      jid,
      order,
      begun: record?.begun as StoredBatch['begun'],
      members: membersOf(this.#store, jid),
    }
  }

  /** Record which minions are available. */
  async begin(
    jid: string,
    begun: NonNullable<StoredBatch['begun']>,
    available: readonly string[],
  ): Promise<void> {
    await this.#store.change((records) => {
      records.put(['batch', jid], { ...recordOf(records, jid), begun })
      for (const id of available) records.put(['member', jid, id], { state: 'queued' })
    })
  }

  async update(jid: string, members: ReadonlyMap<string, Member>): Promise<void> {
    if (members.size === 0) return
    await this.#store.change((records) => {
      for (const [id, member] of members) records.put(['member', jid, id], member)
    })
  }

  async finish(jid: string, halted: string | undefined): Promise<void> {
    await this.#store.change((records) => {
      const { order, ...rest } = recordOf(records, jid) ?? {}
      records.put(['batch', jid], { ...rest, done: true, ...(halted !== undefined && { halted }) })
      records.remove(['batch-open', jid])
      records.remove(['batch-stop', jid])
    })
  }

  /**
   * Let the batch start no more minions, also after a restart. Later reasons are ignored. Resolves with false if there is no
   * such batch or it is done.
   */
  async stop(jid: string, why: string): Promise<boolean> {
    return this.#store.change((records) => {
      if (!records.has(['batch-open', jid])) return false
      if (!records.has(['batch-stop', jid])) records.put(['batch-stop', jid], why)
      const record = recordOf(records, jid)
      const { words: _, ...order } = orderOf(record) ?? {}
      records.put(['batch', jid], { ...record, order: { ...order, arg: [] } })
      return true
    })
  }

  /** Return the reason why the batch was stopped, as a sentence. */
  stopped(jid: string): string | undefined {
    const why = this.#store.get(['batch-stop', jid])
    return why === undefined ? undefined : String(why)
  }

  status(jid: string): BatchStatus | undefined {
    const record = recordOf(this.#store, jid)
    if (!record) return undefined
    const halted = typeof record.halted === 'string' ? record.halted : this.stopped(jid)
    const minions: Partial<Record<BatchMemberState, string[]>> = {}
    for (const [id, member] of membersOf(this.#store, jid)) {
      const state = !record.begun && member.state === 'down' ? 'queued' : member.state
      minions[state] ??= []
      minions[state].push(id)
    }
    return {
      jid,
      fun: record.fun as BatchStatus['fun'],
      user: String(record.user),
      ...(typeof record.owner === 'string' && { owner: record.owner }),
      phase: record.done === true ? 'done' : record.begun ? 'run' : 'ping',
      ...(halted !== undefined && { halted }),
      minions,
    }
  }

  /** List all batches, newest first (by jid). */
  *list(): Generator<BatchStatus> {
    for (const key of this.#store.keys(keysUnder('batch'), { reverse: true })) {
      const status = this.status(String(key[1]))
      if (status) yield status
    }
  }
}

/** Whether a batch starts no more minions. */
export const isStopped = (records: Pick<StoreReader, 'has'>, jid: string): boolean =>
  records.has(['batch-stop', jid])

/** Remove the records of a batch when its job expires. Return false, without a change, while it runs. */
export function removeBatch(records: StoreChange, jid: string): boolean {
  if (records.has(['batch-open', jid])) return false
  records.remove(['batch', jid])
  for (const key of [...records.keys(keysUnder('member', jid)), ...records.keys(keysUnder('wave', jid))])
    records.remove(key)
  return true
}

/**
 * Return the jid of the batch to which a wave belongs, from the metadata of its load; undefined for other jobs. The ping of a
 * batch has this metadata, too, and `ping_jid`, but is not a wave.
 */
export function batchOf(jid: string, load: object): string | undefined {
  const metadata: unknown = 'metadata' in load ? load.metadata : undefined
  if (!isRecord(metadata)) return undefined
  const { batch_jid: batch, ping_jid: ping } = metadata
  return typeof batch === 'string' && batch !== jid && ping !== jid ? batch : undefined
}

function recordOf(records: Pick<StoreReader, 'get'>, jid: string): Fields | undefined {
  const record = records.get(['batch', jid])
  return isRecord(record) ? record : undefined
}

function orderOf(record: Fields | undefined): BatchOrder | undefined {
  const order: unknown = record?.order
  return isRecord(order) ? (order as unknown as BatchOrder) : undefined
}

function membersOf(records: StoreReader, jid: string): Map<string, Member> {
  const found = new Map<string, Member>()
  for (const { key, value } of records.entries(keysUnder('member', jid)))
    if (isRecord(value)) found.set(String(key[2]), value as unknown as Member)
  return found
}
