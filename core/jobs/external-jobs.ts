import type { Log } from '../author/context.ts'
import type { LoadRecord, Returner, ReturnRecord } from '../author/returner.ts'
import { Disposer } from '../base/disposer.ts'
import { messageOf, SaltError } from '../base/errors.ts'
import { onceInAWhile } from '../base/once-in-a-while.ts'
import type { MasterConfig } from '../config/index.ts'
import { jobSources } from './open-job-cache.ts'
import { openMasterReturner } from './open-master-returner.ts'

/** Functions of a returner that read jobs. */
type Reader = 'getLoad' | 'getJid' | 'getJids'

/**
 * Reads jobs from the stores of `master_job_cache` and `ext_job_cache`, or from one given by name. If the one given by name
 * cannot be read, methods reject with STORE_FAILED; others that cannot be read are left out with a warning.
 */
export class ExternalJobs {
  readonly #config: MasterConfig
  readonly #unreadable: (name: string, error: SaltError) => void
  readonly #open = new Map<string, Promise<Returner>>()
  readonly #log: Log

  constructor(config: MasterConfig, log: Log) {
    this.#config = config
    this.#log = log
    const warn = onceInAWhile((sentence) => log.warn(sentence))
    this.#unreadable = (name, { message }) =>
      warn(`${message} Jobs that only this store has are missing from the list.`, name)
  }

  /** Return the job from the first store that has it. */
  async get(jid: string, source?: string): Promise<LoadRecord | undefined> {
    const found = this.#read(source, 'getLoad', async function* (returner) {
      const job = await returner.getLoad?.(jid)
      if (job) yield job
    })
    for await (const job of found) return job
    return undefined
  }

  /** As {@link get}, but reject with STORE_FAILED if no store has the job and one cannot be read. */
  async find(jid: string): Promise<LoadRecord | undefined> {
    let unread: SaltError | undefined
    for (const name of jobSources(this.#config)) {
      try {
        const job = await (await this.#opened(name)).getLoad?.(jid)
        if (job) return job
      } catch (error) {
        unread = unreadable(name, error)
      }
    }
    if (unread) throw unread
    return undefined
  }

  /** Return the returns from all stores, one for each minion. */
  async returns(jid: string, source?: string): Promise<ReturnRecord[]> {
    const found = new Map<string, ReturnRecord>()
    const read = this.#read(source, 'getJid', async function* (returner) {
      yield* (await returner.getJid?.(jid)) ?? []
    })
    for await (const ret of read) if (!found.has(ret.id)) found.set(ret.id, ret)
    return [...found.values()]
  }

  /** Yield jobs, newest first, one store after the other. */
  list(source?: string): AsyncGenerator<LoadRecord> {
    return this.#read(source, 'getJids', async function* (returner) {
      yield* returner.getJids?.() ?? []
    })
  }

  async close(): Promise<void> {
    const disposer = new Disposer()
    for (const opened of await Promise.allSettled(this.#open.values()))
      if (opened.status === 'fulfilled') disposer.defer(() => opened.value.close?.())
    await disposer.close()
  }

  async *#read<T>(
    source: string | undefined,
    needed: Reader,
    read: (returner: Returner) => AsyncGenerator<T>,
  ): AsyncGenerator<T> {
    for (const name of source ? [source] : jobSources(this.#config)) {
      try {
        const returner = await this.#opened(name)
        if (source && !returner[needed]) throw onlyWrites(source)
        yield* read(returner)
      } catch (error) {
        const why = unreadable(name, error)
        if (source) throw why
        this.#unreadable(name, why)
      }
    }
  }

  #opened(name: string): Promise<Returner> {
    let returner = this.#open.get(name)
    if (!returner) {
      returner = openMasterReturner(name, this.#config, this.#log)
      this.#open.set(name, returner)
      returner.catch(() => this.#open.delete(name))
    }
    return returner
  }
}

const onlyWrites = (name: string) =>
  new SaltError('INVALID_ARGUMENTS', `The returner ${name} is write-only: jobs cannot be read from it.`)

function unreadable(name: string, error: unknown): SaltError {
  if (SaltError.is(error)) return error
  return new SaltError(
    'STORE_FAILED',
    `Jobs cannot be read from ${name}: ${messageOf(error)}. See: salt-run returner.test ${name}.`,
    { name },
    { cause: error },
  )
}
