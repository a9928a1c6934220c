import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { type Deferred, deferred } from '../../base/deferred.ts'
import { messageOf } from '../../base/errors.ts'
import { fileProblem } from '../../base/files/file-problem.ts'
import { onceInAWhile } from '../../base/once-in-a-while.ts'
import { perMinuteQuota } from '../../base/quota.ts'
import { endsWithin } from '../../base/with-timeout.ts'
import type { MasterConfig } from '../../config/index.ts'
import { type Holder, holdersOf, holderText, isStopped } from '../../process/holders.ts'
import { openStore, type Store } from '../../store/index.ts'
import { type AppendResult, appendToChain, type ChainEnd, EMPTY_CHAIN_END } from './file.ts'
import type { AuditEntry } from './line.ts'

export type AuditConfig = Pick<MasterConfig, 'audit_log' | 'cachedir'>

/** How long an action waits for its line to be written. It takes long while a stopped process holds the lock. */
const MAX_WAIT_MS = 2_000
/** Minimum interval between searches for a stopped process. */
const LOOK_INTERVAL_MS = 1_000
/** Maximum number of lines that wait to be written. */
const MAX_WAITING = 10_000
/** Lines per minute and process about refused minions and unverified callers, who must not be able to fill the disk. */
const MAX_CHEAP_LINES = 100
/** Delay until lines are synced to disk, against power failures; the end of a process loses none. */
const SYNC_MS = 1_000

const END = ['end'] as const

export const auditStorePath = ({ cachedir }: Pick<AuditConfig, 'cachedir'>): string =>
  join(cachedir, 'audit.mdb')

/** LMDB must not open a file twice in one process. */
const opened = new Map<string, { readonly log: AuditLog; users: number }>()

/**
 * The audit log: who did what, and who was refused what. JSON lines, each with the hash of the one before. The LMDB transaction
 * that stores the end of the chain is the lock between writing processes. An action never fails because of the log: lines that
 * cannot be written are reported to `complain`, and counted with the end of the chain and in the next line that is written.
 */
export class AuditLog {
  readonly #path: string
  readonly #storePath: string
  readonly #complain: (problem: string, about: string) => void
  readonly #cheapLineQuota = perMinuteQuota(MAX_CHEAP_LINES, Date.now)
  #store: Store | undefined
  #waiting = newBatch()
  #writing: Promise<void> | undefined
  /** Lines that could not be written, not yet counted with the end of the chain. */
  #leftOut = 0
  #syncing: NodeJS.Timeout | undefined
  #lookAgain = 0

  static open(config: AuditConfig, complain: (problem: string) => void): AuditLog {
    const name = `${config.audit_log}\0${config.cachedir}`
    const known = opened.get(name) ?? { log: new AuditLog(config, complain), users: 0 }
    opened.set(name, known)
    known.users++
    return known.log
  }

  private constructor(config: AuditConfig, complain: (problem: string) => void) {
    this.#path = config.audit_log
    this.#storePath = auditStorePath(config)
    this.#complain = onceInAWhile(complain)
  }

  /**
   * Resolves when the line is in the file, safe from the end of the process, or when that takes too long; with false at once if it is
   * left out, as one of too many that anybody can cause. Never rejects.
   */
  async record(entry: AuditEntry): Promise<boolean> {
    const before = isCheap(entry) ? this.#cheapLineQuota() : 0
    if (before === undefined) return false
    const { lines, written } = this.#waiting
    if (lines.length >= MAX_WAITING) {
      this.#leftOut++
      return true
    }
    const time = new Date().toISOString()
    lines.push({ time, entry: before > 0 ? withLeftOut(entry, before) : entry })
    this.#writing ??= this.#write()
    if (!(await endsWithin(written.promise, MAX_WAIT_MS))) void this.#lookForStopped()
    return true
  }

  /** Report a process that is stopped while it holds the lock. Other waits are long on a busy machine, too, and end by themselves. */
  async #lookForStopped(): Promise<void> {
    const now = performance.now()
    if (now < this.#lookAgain) return
    this.#lookAgain = now + LOOK_INTERVAL_MS
    for await (const holder of holdersOf((link) => link === `${this.#storePath}-lock`))
      if (await isStopped(holder.pid)) this.#complain(notYet(this.#storePath, holder), 'late')
  }

  /** Return the end of the chain, if it is known. */
  async end(): Promise<ChainEnd | undefined> {
    await this.#writing
    return this.#open().get(END) as ChainEnd | undefined
  }

  /** Resolves when all lines are on disk, if this is the last user of the log in this process. */
  async close(): Promise<void> {
    await this.#writing
    const [name, own] = [...opened].find(([, { log }]) => log === this) ?? []
    if (name === undefined || !own || --own.users > 0) return
    opened.delete(name)
    if (this.#syncing) {
      clearTimeout(this.#syncing)
      await this.#sync()
    }
    await this.#store?.close()
  }

  #open(): Store {
    this.#store ??= openStore(this.#storePath, {
      synced: false,
      onDamage: ({ message }) => this.#complain(message, 'damage'),
    })
    return this.#store
  }

  /** Write all waiting lines. Lines that arrive meanwhile become the next batch. */
  async #write(): Promise<void> {
    while (this.#waiting.lines.length > 0) await this.#writeBatch()
    this.#writing = undefined
  }

  async #writeBatch(): Promise<void> {
    let batch: Batch | undefined
    let isWritten = false
    const take = () => {
      batch = this.#waiting
      this.#waiting = newBatch()
      return batch
    }
    try {
      await this.#open().change((records) => {
        const last = withLost(records.get(END) as ChainEnd | undefined, this.#leftOut)
        records.put(END, appendToChain(this.#path, last, take().lines))
        isWritten = true
      })
    } catch (error) {
      if (!isWritten) await this.#failed(batch ?? take(), error)
    }
    batch?.written.resolve()
    if (!isWritten) return
    this.#leftOut = 0
    this.#syncing ??= setTimeout(() => void this.#sync(), SYNC_MS).unref()
  }

  async #failed({ lines }: Batch, error: unknown): Promise<void> {
    this.#leftOut += lines.length
    const leftOut = (await this.#keepLeftOut()) ?? this.#leftOut
    this.#complain(
      `An action was carried out but not written to the audit log (audit_log) ${this.#path}: ${fileProblem(error)}. Left out so far: ${leftOut}.`,
      'failed',
    )
  }

  /** Store the number of lost lines for the next writer, in this process or another. Returns it; undefined if it cannot be stored. */
  async #keepLeftOut(): Promise<number | undefined> {
    try {
      return await this.#open().change((records) => {
        const last = withLost(records.get(END) as ChainEnd | undefined, this.#leftOut)
        records.put(END, last)
        this.#leftOut = 0
        return last?.leftOut
      })
    } catch {
      return undefined
    }
  }

  async #sync(): Promise<void> {
    this.#syncing = undefined
    try {
      const file = await open(this.#path, 'r')
      await file.datasync().finally(() => file.close())
    } catch (error) {
      this.#complain(`The audit log ${this.#path} could not be synced to disk: ${messageOf(error)}`, 'sync')
    }
  }
}

/** Add the lines left out here to those that an API server left out. */
const withLeftOut = (entry: AuditEntry, before: number): AuditEntry => ({
  ...entry,
  left_out_before: before + Number(entry.left_out_before ?? 0),
})

function withLost(last: ChainEnd | undefined, lost: number): ChainEnd | undefined {
  return lost === 0 ? last : { ...(last ?? EMPTY_CHAIN_END), leftOut: (last?.leftOut ?? 0) + lost }
}

/** Lines that are written in one transaction. */
interface Batch {
  readonly lines: AppendResult[]
  /** Resolved when they are written, or given up. */
  readonly written: Deferred<void>
}

const newBatch = (): Batch => ({ lines: [], written: deferred() })

const notYet = (store: string, holder: Holder): string =>
  `An action is not in the audit log (audit_log) yet: ${holderText(holder)} has ${store} open and is stopped, as by Ctrl-Z. Continue it (kill -CONT ${holder.pid}), or end it.`

/** Record entries, for a program that exits afterwards. Resolves when they are on disk; never rejects. */
export async function recordOnce(
  config: AuditConfig,
  complain: (problem: string) => void,
  entries: readonly AuditEntry[],
): Promise<void> {
  const log = AuditLog.open(config, complain)
  await Promise.all(entries.map((entry) => log.record(entry)))
  await log.close().catch((error: unknown) => complain(messageOf(error)))
}

const isCheap = ({ claimed, verdict, by }: AuditEntry): boolean =>
  claimed === true || (verdict === 'refused' && by === 'minion')
