import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { type Deferred, deferred } from '../../base/deferred.ts'
import { messageOf } from '../../base/errors.ts'
import { fileProblem } from '../../base/file-problem.ts'
import { type Holder, holdersOf, holderText, isStopped } from '../../base/holders.ts'
import { quota } from '../../base/quota.ts'
import { seldom } from '../../base/seldom.ts'
import type { MasterConfig } from '../../config/index.ts'
import { openStore, type Store } from '../../store/index.ts'
import { appendToChain, type ChainEnd, NO_LINE, type Recorded } from './file.ts'
import type { AuditEntry } from './line.ts'

export type AuditConfig = Pick<MasterConfig, 'audit_log' | 'cachedir'>

/** Who acts waits so long for the line, as when a process that was stopped is in the middle of writing its own. */
const PATIENCE_MS = 2_000
/** Then it is looked for one that was stopped, so often. */
const LOOK_MS = 1_000
/** Lines that wait. */
const MOST_WAITING = 10_000
/** Lines a minute and process about what strangers and minions are refused: they must not fill the disk. */
const CHEAP = 100
/** A line is on disk after so long, for a power cut; a process that is killed takes none with it. */
const SYNC_MS = 1_000

const END = ['end'] as const

export const auditStorePath = ({ cachedir }: Pick<AuditConfig, 'cachedir'>): string =>
  join(cachedir, 'audit.mdb')

/** LMDB must not open a file twice in one process. */
const opened = new Map<string, { readonly log: AuditLog; users: number }>()

/**
 * The log of who did what, and who was refused what: JSON lines, each with the hash of the one before. The transaction of
 * LMDB that keeps the end of the chain is the lock between the processes that write. What is done never fails for the
 * log: what cannot be written is told to `complain`, and counted, beside the end of the chain and in the next line that can.
 */
export class AuditLog {
  readonly #path: string
  readonly #storePath: string
  readonly #complain: (problem: string, about: string) => void
  readonly #many = quota(CHEAP, Date.now)
  #store: Store | undefined
  #waiting = newBatch()
  #writing: Promise<void> | undefined
  /** Lines that could not be written, as far as that does not stand with the end of the chain yet. */
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
    this.#complain = seldom(complain)
  }

  /** Resolves when the line is in the file, where a killed process leaves it, or when that takes too long. Never rejects. */
  async record(entry: AuditEntry): Promise<void> {
    const before = isCheap(entry) ? this.#many() : 0
    if (before === undefined) return
    const { lines, written } = this.#waiting
    if (lines.length >= MOST_WAITING) return void this.#leftOut++
    const time = new Date().toISOString()
    lines.push({ time, entry: before > 0 ? withLeftOut(entry, before) : entry })
    this.#writing ??= this.#write()
    if (!(await inTime(written.promise))) void this.#lookForStopped()
  }

  /** Waits are long on a busy machine, too, and end by themselves; who was stopped in the middle of a line must be told of. */
  async #lookForStopped(): Promise<void> {
    const now = performance.now()
    if (now < this.#lookAgain) return
    this.#lookAgain = now + LOOK_MS
    for await (const holder of holdersOf((link) => link === `${this.#storePath}-lock`))
      if (await isStopped(holder.pid)) this.#complain(notYet(this.#storePath, holder), 'late')
  }

  /** The last line there is, and its file, as far as that is known. */
  async end(): Promise<ChainEnd | undefined> {
    await this.#writing
    return this.#open().get(END) as ChainEnd | undefined
  }

  /** Resolves when all lines are on disk, if nobody else in this process has it open. */
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

  /** What comes meanwhile is written next, all at once. */
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
      `Done, but not written to the audit log (audit_log) ${this.#path}: ${fileProblem(error)}. Left out so far: ${leftOut}.`,
      'failed',
    )
  }

  /** For whoever writes the next line, in this process or another. Gives how many there are; undefined if it cannot be kept. */
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
      this.#complain(`The audit log ${this.#path} could not be put on disk: ${messageOf(error)}`, 'sync')
    }
  }
}

/** There may be some that were left out elsewhere. */
const withLeftOut = (entry: AuditEntry, before: number): AuditEntry => ({
  ...entry,
  left_out_before: before + Number(entry.left_out_before ?? 0),
})

function withLost(last: ChainEnd | undefined, lost: number): ChainEnd | undefined {
  return lost === 0 ? last : { ...(last ?? NO_LINE), leftOut: (last?.leftOut ?? 0) + lost }
}

/** Lines that are written at once. */
interface Batch {
  readonly lines: Recorded[]
  /** Or given up. */
  readonly written: Deferred<void>
}

const newBatch = (): Batch => ({ lines: [], written: deferred() })

const notYet = (store: string, holder: Holder): string =>
  `What was done is not in the audit log (audit_log) yet: ${holderText(holder)} has ${store} open and was stopped, as by Ctrl-Z. Have it go on (kill -CONT ${holder.pid}), or end it.`

/** For a program that does one thing. Resolves when it is on disk; never rejects. */
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

/** False if it takes too long. */
function inTime(work: Promise<void>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), PATIENCE_MS)
    void work.then(() => {
      clearTimeout(timer)
      resolve(true)
    })
  })
}
