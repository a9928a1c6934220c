/** The second argument of a function. Types only: the minion and the master provide the values. */

import type {
  CallArguments,
  CallResult,
  FunctionName,
  JobArguments,
  JobFunctions,
  JobReturn,
} from './calls.ts'
import type { FileClient, FileLists, SyncReport, SyncRequest } from './files.ts'
import type {
  AccessAdmin,
  AuditAdmin,
  JobArchive,
  JobQuery,
  KeyAdmin,
  MasterCache,
  Matched,
  MineAdmin,
  ReturnerAdmin,
  RunningRun,
  TokenAdmin,
} from './master.ts'
import type { JsonSchema } from './params.ts'

export interface Log {
  trace(message: string, facts?: object): void
  debug(message: string, facts?: object): void
  info(message: string, facts?: object): void
  warn(message: string, facts?: object): void
  error(message: string, facts?: object): void
}

/** The running job, as it was published. */
export interface Job {
  readonly jid: string
  readonly fun: string | readonly string[]
  readonly arg: readonly unknown[]
  readonly tgt: unknown
  readonly tgt_type: string
  readonly ret: string
  readonly user?: string
  readonly pid?: number
  readonly [extra: string]: unknown
}

/**
 * A change of the minion's data store: `replace`, then `remove`, then `put`. With `expect` nothing changes unless the key
 * has that value. A `Map` keeps names that are numbers.
 */
export interface DataChange {
  readonly replace?: Readonly<Record<string, unknown>> | ReadonlyMap<unknown, unknown>
  readonly remove?: readonly string[]
  readonly put?: Readonly<Record<string, unknown>> | ReadonlyMap<unknown, unknown>
  readonly expect?: { readonly key: string; readonly value: unknown }
}

/** Services of the minion's main process for functions in job processes. */
export interface MinionServices {
  /** Fire an event on the minion's own bus. */
  fire(tag: string, data: object): Promise<boolean>
  /** Fire an event on the master's bus. False if the master does not answer or refuses. */
  fireMaster(tag: string, data: unknown, options?: { readonly pretag?: string | null }): Promise<boolean>
  /** Send an encrypted request to the master, and return the decrypted answer. */
  request(load: Readonly<Record<string, unknown>>): Promise<unknown>
  /** List the jobs that run, or whose return is still being delivered. */
  running(): Promise<Job[]>
  /**
   * Send a signal to the process group of a job. With `grace` the `signal` of its function is aborted first, and the process
   * group is signalled when the function has ended, or after that many seconds. Resolves with Salt's message about the
   * outcome.
   */
  signalJob(jid: string, signal: number, options?: { readonly grace?: number }): Promise<string>
  /** Cancel a job that waits for its turn. Resolves with false if it has begun, or is not here. */
  cancelJob(jid: string): Promise<boolean>
  /** Reload all modules; running jobs finish on the old code. Resolves when the next job uses the new code. */
  refreshModules(): Promise<boolean>
  /** Collect the grains again, and send them to the master. Resolves with false if no minion runs here, as in `salt-call`. */
  refreshGrains(): Promise<boolean>
  /** Remove cached jobs older than `hours`. */
  clearJobCache(hours: number): Promise<boolean>
  /** Return a cached return of this minion, by jid. */
  findCachedJob(jid: string): Promise<unknown>
  /** Read the minion's data store (functions `data.*`). */
  readData(): Promise<Readonly<Record<string, unknown>>>
  /** List the names in the data store as they were given, such as numbers, the first one stored first. */
  dataKeys(): Promise<readonly unknown[]>
  /** Change the data store atomically. False if the expected value is not there. */
  changeData(change: DataChange): Promise<boolean>
  /** The file server of the master that published the job. */
  readonly files: FileClient
  /** Sync extensions from the file server (`saltutil.sync_*`). Resolves when the next job can use them. */
  sync(request: SyncRequest): Promise<SyncReport>
}

/** One stored job (runners `jobs.*`). */
export interface StoredJob {
  readonly jid: string
  readonly load: Readonly<Record<string, unknown>>
  readonly minions: readonly string[]
  /** Minions among them that the target may not match: the master lacks the facts to decide. */
  readonly unknown?: readonly string[]
  /** Time of the last return, in UTC, ISO 8601, if it is stored (`job_cache_store_endtime`). */
  readonly endtime?: string
  /** The other jobs of the same batch. Minions and returns are those of all its jobs. */
  readonly waves?: readonly string[]
}
/** The state of a job on a minion that has not returned. */
export interface Unreturned {
  readonly id: string
  /** The job; of a batch, the one that the minion is sent, if it has been. */
  readonly jid: string
  readonly state: string
  /** A sentence for people. */
  readonly reason: string
}
/** A job that waits for minions. */
export interface WaitingJob {
  readonly jid: string
  readonly load: Readonly<Record<string, unknown>>
  /** Until when they may take it, in UTC, ISO 8601. */
  readonly until: string
  /** The minions that have not taken it. */
  readonly minions: readonly string[]
}
export type ListedJob = Pick<StoredJob, 'jid' | 'load' | 'endtime'>

/** The state of a batch that the master runs. */
export interface BatchStatus {
  readonly jid: string
  readonly fun: string | readonly string[]
  readonly user: string
  /** The owner: `host:root`, `eauth:pam:fred`. */
  readonly owner?: string
  /** In the phase `ping` the master finds out which minions answer. */
  readonly phase: 'ping' | 'run' | 'done'
  /** The reason, as a sentence, if the batch starts no more minions although some have not run. */
  readonly halted?: string
  /** Ids by state. In the phase `ping` all are `queued`. `down`: did not answer the ping; `gone`: the master stopped waiting for its return. */
  readonly minions: Readonly<Partial<Record<BatchMemberState, readonly string[]>>>
}
export type BatchMemberState = 'down' | 'queued' | 'running' | 'done' | 'failed' | 'gone'
export interface StoredReturn {
  readonly id: string
  readonly return: unknown
  readonly retcode?: number
  readonly success?: boolean
  readonly out?: string
  readonly [extra: string]: unknown
}

/** A target: an expression such as `web*`, or a list of ids or of the words of a compound expression. */
export type TargetExpression = string | readonly string[]

/** A target type by Salt's name; one's own matchers have others. */
export type TargetType =
  | 'glob'
  | 'pcre'
  | 'list'
  | 'grain'
  | 'grain_pcre'
  | 'pillar'
  | 'pillar_pcre'
  | 'pillar_exact'
  | 'data'
  | 'nodegroup'
  | 'range'
  | 'ipcidr'
  | 'compound'
  | (string & {})

/** The target of a job. */
export interface JobTarget {
  /** Read as `tgtType` says. */
  readonly tgt: TargetExpression
  /** Default: `list` for a list of ids, otherwise `glob`. */
  readonly tgtType?: TargetType | undefined
}

/** A job of a runner, beside its functions and their arguments. */
export interface RunRequest extends JobTarget {
  readonly timeout?: number | undefined
  readonly gatherJobTimeout?: number | undefined
  /** Returners, comma separated. */
  readonly ret?: string
  readonly jid?: string
  /** Seconds in which minions that are away still get the job. */
  readonly deliverWithin?: number | undefined
}

/** The outcome of such a job on one minion. `R` is the type of what its function returns. */
export type RunResult<R = unknown> =
  | (StoredReturn & { readonly state: 'returned'; readonly return: R; readonly missing?: undefined })
  | (StoredReturn & { readonly state: 'failed'; readonly return: unknown; readonly missing?: undefined })
  | {
      readonly id: string
      readonly state: 'missing' | 'waiting' | 'unknown'
      readonly return: undefined
      /** Why there is no return, as a sentence. */
      readonly missing: string
    }

/** Services of the master's host for runners. */
export interface MasterServices {
  /**
   * Publish a job, and yield each return when it arrives. Ends when all have arrived or are no longer waited for. Rejects
   * when the runner is killed; the job continues then.
   */
  run<const F extends JobFunctions>(
    request: RunRequest & { readonly fun: F } & JobArguments<F>,
  ): AsyncIterable<RunResult<JobReturn<F>>>
  fire(tag: string, data: object): Promise<boolean>
  /** Yield events whose tag begins with `prefix`, from now on. */
  events(
    prefix: string,
    signal: AbortSignal,
  ): AsyncIterable<{ readonly tag: string; readonly data: Record<string, unknown> }>
  readonly jobs: {
    /** The user whose jobs alone are found here; if undefined, those of all users are. */
    readonly onlyOf?: string
    /** Find a job. With `source` only in the store of that returner; `local_cache` is the master's own. */
    get(jid: string, options?: { readonly source?: string | undefined }): Promise<StoredJob | undefined>
    returns(jid: string, options?: { readonly source?: string | undefined }): Promise<StoredReturn[]>
    /**
     * Return the states of the minions of a job that have not returned. Connected minions are queried, which takes some
     * seconds if one does not answer.
     */
    unreturned(jid: string): Promise<Unreturned[]>
    /** List the jobs that wait for minions (`deliver_within`), oldest first. */
    waiting(): Promise<WaitingJob[]>
    /**
     * Cancel a job, or all jobs of a batch, for the minions that have not taken it, or those of `minions` among them. Resolves with
     * the minions for which it is cancelled, now or before, and those for which it has expired. Others that have not returned may have
     * it; one that does not have it does not get it any more.
     */
    cancel(
      jid: string,
      minions?: readonly string[],
    ): Promise<{ readonly cancelled: readonly string[]; readonly expired: readonly string[] }>
    /** List jobs, newest first (by jid). */
    list(query?: JobQuery & { readonly source?: string | undefined }): AsyncIterable<ListedJob>
    readonly archive: JobArchive
  }
  readonly returners: ReturnerAdmin
  /** Report progress to the client of this runner, and on the event bus (`salt/run/<jid>/progress`). */
  progress(data: Readonly<Record<string, unknown>>): Promise<void>
  /** Evaluate a target by the facts the master has, without querying minions. `type` is a target type by Salt's name. */
  match(
    tgt: TargetExpression,
    type?: TargetType,
    options?: { readonly delimiter?: string | undefined },
  ): Promise<Matched>
  /** Run an execution function on this host. */
  call(fun: string, args?: readonly unknown[], kwargs?: Readonly<Record<string, unknown>>): Promise<unknown>
  /** List the runners and wheel functions that run now, except this one. */
  running(): Promise<RunningRun[]>
  /**
   * End a runner or wheel function and the processes it started: its `signal` is aborted, and after 3 seconds it is killed.
   * False if none has that jid.
   */
  killRun(jid: string): Promise<boolean>
  readonly cache: MasterCache
  readonly mine: MineAdmin
  readonly keys: KeyAdmin
  readonly tokens: TokenAdmin
  readonly access: AccessAdmin
  readonly audit: AuditAdmin
  /**
   * Write options to `<name>.conf` in the configuration directory of the master (`master.d`); with `keep` the other options
   * in that file stay. Resolves with its path. Refuses, and changes nothing, if the master could not start with the result.
   */
  writeConfig(
    name: string,
    options: Readonly<Record<string, unknown>>,
    how?: { readonly keep?: boolean },
  ): Promise<string>
  /** Batches that the master runs or has run (`salt --batch --async`). */
  readonly batches: {
    /** List batches, the newest first. */
    list(): AsyncIterable<BatchStatus>
    get(jid: string): Promise<BatchStatus | undefined>
    /** Stop a batch from starting further minions. False if it has ended, or none has that jid. */
    stop(jid: string): Promise<boolean>
  }
  /** List the ids of minions whose key is accepted. */
  acceptedIds(): Promise<string[]>
  /** Return the grains that the master has cached for a minion. */
  cachedGrains(id: string): Promise<Readonly<Record<string, unknown>> | undefined>
  /** List the ids of minions with an open connection to the publish port of this master, or of another one of its cluster, as last seen by them. */
  connectedIds(): Promise<string[]>
  /** Direct access to the file server of this master. `backends` are names; those of `fileserver_backend` by default. */
  readonly fileServer: {
    envs(backends?: readonly string[]): Promise<Readonly<Record<string, readonly string[]>>>
    list(saltenv: string, backends?: readonly string[]): Promise<FileLists>
    /** Make every worker read the directories again. Resolves with a map backend → environments. */
    clearListCache(
      saltenv?: readonly string[],
      backends?: readonly string[],
    ): Promise<Readonly<Record<string, readonly string[]>>>
  }
  /** Sync extensions from the file server to this host (`salt-run saltutil.sync_*`). */
  sync(request: SyncRequest): Promise<SyncReport>
}

/**
 * Read access to the loader, for `sys.*` and help. Names are `module.function`; `pattern` is a shell pattern. To list or
 * document functions, only files that decide whether they are offered (`virtual`) are imported.
 */
export interface LoaderView {
  /** List the names of all modules, sorted. */
  modules(pattern?: string): Promise<string[]>
  /** List the names of all functions, sorted. */
  functions(pattern?: string): Promise<string[]>
  /** Return the documentation comment of a function or module, without importing it. */
  doc(name: string): Promise<string | undefined>
  /** Return the documentation comment of a function, followed by its parameters and its declared result, as text. */
  help(name: string): Promise<string | undefined>
  /** Return the signature of a function, as Salt's `sys.argspec` does. */
  argspec(name: string): Promise<Argspec | undefined>
  /** Return the parameters of a function as one JSON Schema. */
  schema(name: string): Promise<JsonSchema | undefined>
  reload(): Promise<void>
  /** Return a map path → reason of the files that could not be used. */
  failures(): Promise<Record<string, string>>
  /**
   * Import all files that are not part of salt-ts. Resolves with a map path → reason of those that fail; their functions are
   * no longer listed then.
   */
  broken(): Promise<Record<string, string>>
  /** Return a map virtual name → file that provides it. */
  providers(): Promise<Record<string, string>>
  /** Explain which file provides a function or module, and why each other candidate does not. */
  why(name: string): Promise<Explanation>
  has(name: string): Promise<boolean>
  /** Return the view of another kind: `runners`, `returners`, `outputters`, … Undefined for an unknown kind. */
  of(kind: string): LoaderView | undefined
}
/** The origin of a function. */
export interface Explanation {
  readonly name: string
  /** Path of the file, if any. */
  readonly provided_by: string | null
  /** Path of each file that could provide it → a sentence about whether it does. */
  readonly files: Readonly<Record<string, string>>
  readonly advice?: string
  /** Lists mistakes in the file that provides it, as `path:line: sentence`. Absent if there are none. */
  readonly warnings?: readonly string[]
}
/** A signature in Salt's form; `null` stands for absent parts. `defaults` belong to the last of `args`. */
export interface Argspec {
  readonly args: readonly string[] | null
  readonly defaults: readonly unknown[] | null
  readonly varargs: true | null
  readonly kwargs: true | null
}

export interface Context {
  /** The configuration of this daemon, by Salt's option names. */
  readonly opts: Readonly<Record<string, unknown>>
  readonly id: string
  readonly grains: Readonly<Record<string, unknown>>
  readonly pillar: Readonly<Record<string, unknown>>
  /** Scratch values for the duration of the job (Salt's `__context__`). */
  readonly context: Map<string, unknown>
  readonly log: Log
  /** Aborted when the job is killed or times out. */
  readonly signal: AbortSignal
  /** Absent when called from the command line without a job. */
  readonly job?: Job
  /** Whether another function called this one, rather than a job. */
  readonly nested: boolean
  /** Exit code of the job; also decides its `success`. */
  retcode: number
  /**
   * Call another function by name: `call('cmd.run', { cmd: 'id' })`, or with a list of values by position and more by name,
   * `call('cmd.run', ['id'], { cwd: '/' })`. TypeScript checks calls of the functions in `Functions`.
   */
  call<const N extends FunctionName>(name: N, ...given: CallArguments<N>): Promise<CallResult<N>>
  /**
   * Whether a target matches this minion. `type` is a target type by Salt's name; `minionId` replaces the id of this
   * minion.
   */
  match(
    tgt: TargetExpression,
    type: TargetType,
    options?: { readonly delimiter?: string; readonly minionId?: string },
  ): Promise<boolean>
  readonly loader: LoaderView
  /** Available on a minion only. */
  readonly minion: MinionServices
  /** Available to runners only, on the master's host. */
  readonly master: MasterServices
}
