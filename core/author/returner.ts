/** The contract of returners, which write returns, jobs and events to a store, and read jobs back from it. */
import type { Log } from './context.ts'
import { type Args, asParams, type Declarations, type Options, type Params, type ParamsOf } from './params.ts'

type Fields = Readonly<Record<string, unknown>>

/** The return of a minion for a job (Salt's `ret`), with further members such as `out`, `metadata` and `user`. */
export interface ReturnRecord {
  readonly jid: string
  readonly id: string
  readonly fun: string | readonly string[]
  readonly fun_args: readonly unknown[]
  readonly return: unknown
  readonly retcode: number
  readonly success: boolean
  /**
   * The state of a minion that was expected and has not returned (`not_connected`, `timed_out`, …); `return` is a sentence
   * then. A return replaces this record; this record replaces no return.
   */
  readonly state?: string
  readonly [extra: string]: unknown
}

/** A job as it was published. */
export interface LoadRecord {
  readonly jid: string
  /** `fun`, `arg`, `tgt`, `tgt_type`, `user` and others, with secret arguments masked. */
  readonly load: Fields
  /** Ids of the minions that are expected to run it. */
  readonly minions: readonly string[]
  /** Time that the last `updateEndtime` stored; present on reading. */
  readonly endtime?: string
}

export interface EventRecord {
  readonly tag: string
  /** The data of the event; `_stamp` is its time in UTC. */
  readonly data: Fields
}

/** A value that the masters of a cluster share. */
export interface SharedValue {
  readonly key: string
  readonly value: Uint8Array
  /** A whole number from 1, greater than that of every earlier change. */
  readonly revision: number
}

/**
 * An open connection to a store. Only `save` is required; a store does not support the methods that are absent.
 *
 * A method that writes resolves once the store has the records, and rejects if that is uncertain. It is then called again
 * with the same records, for the configured time, so writing a record twice must leave one row. The key of a return is
 * (jid, id).
 */
export interface Returner {
  /**
   * Whether writing a record twice has the same effect as writing it once; true by default. If false, as for mails, a record
   * is written again only if it may not have arrived; otherwise also to find out which records the store refuses.
   */
  readonly idempotent?: boolean
  save(ret: ReturnRecord): Promise<void>
  /** Save several returns, all or none. No two have the same (jid, id). */
  saveBatch?(rets: readonly ReturnRecord[]): Promise<void>
  /**
   * Prepare the store for a job before it is saved, as Salt's `prep_jid` with `passed_jid`. The master makes the job ids, so
   * that no job waits for a store.
   */
  prepJid?(jid: string): Promise<void>
  saveLoad?(job: LoadRecord): Promise<void>
  /** Save the ids of further minions that are expected, as reported by a syndic. */
  saveMinions?(jid: string, minions: readonly string[]): Promise<void>
  /** Save events, all or none. `batch` identifies them: it is the same when they are written again. */
  saveEvents?(events: readonly EventRecord[], batch: string): Promise<void>
  /** Save the time of the last return of a job, in UTC, ISO 8601; after each return, with `job_cache_store_endtime`. */
  updateEndtime?(jid: string, time: string): Promise<void>

  getLoad?(jid: string): Promise<LoadRecord | undefined>
  /** Return the returns of a job. */
  getJid?(jid: string): Promise<readonly ReturnRecord[]>
  /** Return the last return of a function from each minion. */
  getFun?(fun: string): Promise<readonly ReturnRecord[]>
  /** List all jobs, the newest first. */
  getJids?(): AsyncIterable<LoadRecord>
  /** Return the newest `count` jobs, with `filterFindJob` without those of `saltutil.find_job`. */
  getJidsFilter?(count: number, filterFindJob: boolean): Promise<readonly LoadRecord[]>
  /** List the ids of all minions that have returns. */
  getMinions?(): Promise<readonly string[]>
  /** Delete or archive jobs and returns older than `before`. */
  cleanOldJobs?(before: Date): Promise<void>
  /** Delete a job and its returns. */
  remove?(jid: string): Promise<void>
  /**
   * Return the values of a cluster that have changed after a revision, the latest of each key, the earliest change first, at most
   * `limit`, and more if the last ones have the same revision. A later call returns every change that has not been returned. A value that
   * somebody gave a revision that is not a whole number from 1 to the last one given out counts as absent, here and in {@link putShared}. One
   * of more than 4 MiB may be returned as empty.
   */
  sharedSince?(cluster: string, revision: number, limit: number): Promise<readonly SharedValue[]>
  /**
   * Set a value of a cluster if its present revision is `expected`, 0 for none. Resolves with its revision; undefined if it had
   * another.
   */
  putShared?(cluster: string, key: string, value: Uint8Array, expected: number): Promise<number | undefined>
  /** Remove a value of a cluster if its present revision is `expected`. Without this function a cluster's store keeps what is over. */
  removeShared?(cluster: string, key: string, expected: number): Promise<void>
  /** Create or update the schema of the store. May be called repeatedly. Resolves with a sentence about each change. */
  migrate?(): Promise<readonly string[]>
  close?(): Promise<void>
}

/** The argument of `create`. */
export interface ReturnerFacts<O> {
  readonly options: O
  readonly log: Log
  /** The configuration of the daemon, for settings that are not options of the returner. */
  readonly opts: Fields
  /** The id of the minion, or of the master. */
  readonly id: string
  /** Open another returner by its name, with its own options, to pass records on. */
  open(name: string): Promise<Returner>
}

/** An error about a record that the store will never accept. Writing it is not retried. */
export class UnsavableError extends Error {
  override readonly name = 'UnsavableError'
  readonly code = 'UNSAVABLE'
}

export interface ReturnerPlugin<P extends Declarations = Params> {
  /** The options: types, defaults and secrets. */
  readonly options: P
  /**
   * The prefix of its options in the configuration; its name by default. `returner.postgres` gives
   * `returner.postgres.host`.
   */
  readonly configKey?: string
  /** Make the returner. It may connect at once or when first needed. Rejects with a sentence. */
  create(facts: ReturnerFacts<Args<P>>): Returner | Promise<Returner>
}

/**
 * Declare a returner. It is the default export of a file that has the name of the returner.
 *
 * @example
 * export default returner({
 *   options: { filename: p.default(p.string(), '/var/log/salt/returns') },
 *   create: ({ options }) => ({
 *     save: (ret) => appendFile(options.filename, `${recordJson(ret)}\n`),
 *   }),
 * })
 */
export const returner = <const D extends Options>(plugin: ReturnerPlugin<D>): ReturnerPlugin<ParamsOf<D>> =>
  ({
    ...plugin,
    options: asParams(plugin.options ?? {}, (name) => `The option '${name}' of returner()`),
  }) as ReturnerPlugin<ParamsOf<D>>
