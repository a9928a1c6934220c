/** The contract of returners: what writes returns, jobs and events to a store, and reads jobs back from it. */
import type { Log } from './context.ts'
import type { Args, Param, Params } from './params.ts'

type Fields = Readonly<Record<string, unknown>>

/** What a minion returned for a job (Salt's `ret`), with all that came with it: `out`, `metadata`, `user`, … */
export interface ReturnRecord {
  readonly jid: string
  readonly id: string
  readonly fun: string | readonly string[]
  readonly fun_args: readonly unknown[]
  readonly return: unknown
  readonly retcode: number
  readonly success: boolean
  /**
   * That of a minion that was expected and has not returned (`not_connected`, `timed_out`, …). `return` is then a
   * sentence. A return that comes after all takes its place.
   */
  readonly state?: string
  readonly [extra: string]: unknown
}

/** A job as it was published. */
export interface LoadRecord {
  readonly jid: string
  /** `fun`, `arg`, `tgt`, `tgt_type`, `user`, … with secret arguments masked. */
  readonly load: Fields
  /** Ids of the minions it is expected to run on. */
  readonly minions: readonly string[]
  /** What `updateEndtime` was told, when it is read. */
  readonly endtime?: string
}

export interface EventRecord {
  readonly tag: string
  /** With `_stamp`, the time in UTC. */
  readonly data: Fields
}

/**
 * An open connection to a store. Only `save` is obligatory: what is not there, the store cannot do.
 *
 * Everything that writes resolves when the store has it, and rejects if that is not sure. It is then called again with
 * the same, for as long as is configured, so that writing twice must leave one row: the key of a return is (jid, id).
 */
export interface Returner {
  /**
   * False: what is written twice is there twice, as mails are. Then the same is written again only when it is not sure
   * that it arrived; without it also to find out what the store does not take.
   */
  readonly idempotent?: boolean
  save(ret: ReturnRecord): Promise<void>
  /** The same for several at once, all or none. One (jid, id) is there only once. */
  saveBatch?(rets: readonly ReturnRecord[]): Promise<void>
  /**
   * Make room for a job, before it is saved: Salt's `prep_jid` with `passed_jid`. Job ids are the master's: no store is
   * asked for one, so that no job waits for a store.
   */
  prepJid?(jid: string): Promise<void>
  saveLoad?(job: LoadRecord): Promise<void>
  /** Minions that are expected too, named by a syndic. */
  saveMinions?(jid: string, minions: readonly string[]): Promise<void>
  /** All or none. `batch` is the same text when the same events are written again, and else never. */
  saveEvents?(events: readonly EventRecord[], batch: string): Promise<void>
  /** With `job_cache_store_endtime`, after each return: when the last return of the job came, in UTC, ISO 8601. */
  updateEndtime?(jid: string, time: string): Promise<void>

  getLoad?(jid: string): Promise<LoadRecord | undefined>
  /** What minions returned. */
  getJid?(jid: string): Promise<readonly ReturnRecord[]>
  /** Of each minion the last return of a function. */
  getFun?(fun: string): Promise<readonly ReturnRecord[]>
  /** Newest first. */
  getJids?(): AsyncIterable<LoadRecord>
  /** The newest, without those of `saltutil.find_job` if `filterFindJob`. */
  getJidsFilter?(count: number, filterFindJob: boolean): Promise<readonly LoadRecord[]>
  /** Ids of all minions that ever returned. */
  getMinions?(): Promise<readonly string[]>
  /** Forget, or put aside, jobs and returns that are older. */
  cleanOldJobs?(before: Date): Promise<void>
  /** Forget a job and its returns. */
  remove?(jid: string): Promise<void>
  /** Create what the store needs, or bring it up to date; again and again without harm. Gives what it did, in sentences. */
  migrate?(): Promise<readonly string[]>
  close?(): Promise<void>
}

/** What a returner is made from. */
export interface ReturnerFacts<O> {
  readonly options: O
  readonly log: Log
  /** The configuration of the daemon, for what is not an option of the returner. */
  readonly opts: Fields
  /** Whose returns these are on a minion; the master's on a master. */
  readonly id: string
  /** Another returner by its name, with its own options (for those that pass on to others). */
  open(name: string): Promise<Returner>
}

/** One that says what it is about a wrong return or event rather than the store: it is not tried again. */
export class UnsavableError extends Error {
  override readonly name = 'UnsavableError'
  readonly code = 'UNSAVABLE'
}

export interface ReturnerPlugin<P extends Params = Params> {
  /** Its options: types, defaults and secrets. */
  readonly options: P
  /** What its options begin with in the configuration, if not its name: `returner.postgres` → `returner.postgres.host`. */
  readonly configKey?: string
  /** Connects on first need or at once. Rejects with a sentence. */
  create(facts: ReturnerFacts<Args<P>>): Returner | Promise<Returner>
}

/**
 * Declare a returner: the default export of a file whose name is the name users give.
 *
 * @example
 * export default returner({
 *   options: { filename: p.default(p.string(), '/var/log/salt/returns') },
 *   create: ({ options }) => ({
 *     save: (ret) => appendFile(options.filename, `${recordJson(ret)}\n`),
 *   }),
 * })
 */
export const returner = <const P extends Readonly<Record<string, Param<unknown, 'value'>>>>(
  plugin: ReturnerPlugin<P>,
): ReturnerPlugin<P> => plugin
