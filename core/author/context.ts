/** What a function gets as its second argument. Types only: the minion and the master provide the values. */

import type { CallArguments, CallResult, FunctionName } from './calls.ts'
import type { FileClient, FileLists, SyncReport, SyncRequest } from './files.ts'
import type {
  AccessAdmin,
  AuditAdmin,
  JobArchive,
  JobQuery,
  KeyAdmin,
  MasterCache,
  Matched,
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

/** The job that is being run, as it was published (wire protocol §9). */
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

/** A change of what a minion keeps: first `replace`, then `remove`, then `put`, but only if `expect` is there. */
export interface DataChange {
  readonly replace?: Readonly<Record<string, unknown>>
  readonly remove?: readonly string[]
  readonly put?: Readonly<Record<string, unknown>>
  readonly expect?: { readonly key: string; readonly value: unknown }
}

/** What the minion's main process does for a function that runs in a job process. */
export interface MinionServices {
  /** Fire an event on the minion's own bus. */
  fire(tag: string, data: object): Promise<boolean>
  /** Fire an event on the master's bus. False if the master does not answer or refuses. */
  fireMaster(tag: string, data: unknown, options?: { readonly pretag?: string | null }): Promise<boolean>
  /** Send an encrypted request (wire protocol §7.2) and give the decrypted answer. */
  request(load: Readonly<Record<string, unknown>>): Promise<unknown>
  /** Jobs that run or whose return is still being delivered. */
  running(): Promise<Job[]>
  /**
   * Signal the process group of a job. With `grace` its function is told to end first (its `signal` is aborted), and it is
   * signalled when it has ended, or after so many seconds. Gives Salt's sentence about what happened.
   */
  signalJob(jid: string, signal: number, options?: { readonly grace?: number }): Promise<string>
  /** Load every module anew; running jobs finish on the old code. Resolves when the next job has the new one. */
  refreshModules(): Promise<boolean>
  /** Collect the grains anew and send them to the master. */
  refreshGrains(): Promise<boolean>
  /** Remove what the minion cached; with `hours` only jobs older than that. */
  clearJobCache(hours: number): Promise<boolean>
  /** A return this minion still has, by jid. */
  findCachedJob(jid: string): Promise<unknown>
  /** What the functions `data.*` keep on this minion. */
  readData(): Promise<Readonly<Record<string, unknown>>>
  /** Change that, at once or not at all. False if what was expected is not there. */
  changeData(change: DataChange): Promise<boolean>
  /** The files of the master whose job it is. */
  readonly files: FileClient
  /** Bring extensions from the file server (`saltutil.sync_*`). Resolves when the next job has them. */
  sync(request: SyncRequest): Promise<SyncReport>
}

/** One stored job (runners `jobs.*`). */
export interface StoredJob {
  readonly jid: string
  readonly load: Readonly<Record<string, unknown>>
  readonly minions: readonly string[]
  /** Which of them are perhaps not meant, if any: the master knew too little of them. */
  readonly unknown?: readonly string[]
  /** When the last return came, in UTC, ISO 8601, if that is kept (`job_cache_store_endtime`). */
  readonly endtime?: string
  /** Of a batch: its other jobs. Minions and returns are those of all of them. */
  readonly waves?: readonly string[]
}
export type ListedJob = Pick<StoredJob, 'jid' | 'load' | 'endtime'>

/** How a batch stands that the master runs. */
export interface BatchStatus {
  readonly jid: string
  readonly fun: string | readonly string[]
  readonly user: string
  /** Whose it is: `host:root`, `eauth:pam:fred`. */
  readonly owner?: string
  /** `ping`: it is being found out who is there. */
  readonly phase: 'ping' | 'run' | 'done'
  /** Why it stopped before all had run: a sentence. */
  readonly halted?: string
  /** Ids by state. `down`: has not answered the ping, `gone`: was given up. */
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

/** What the master's host does for a runner. */
export interface MasterServices {
  /**
   * Publish a job and give every return as it comes; ends when all are in or have been given up. Rejects when the runner is
   * killed; the job goes on then.
   */
  run(request: {
    readonly tgt: unknown
    readonly fun: string
    readonly arg?: readonly unknown[]
    readonly kwarg?: Readonly<Record<string, unknown>> | undefined
    readonly tgtType?: string
    readonly timeout?: number | undefined
    readonly gatherJobTimeout?: number | undefined
    /** Returners, comma separated. */
    readonly ret?: string
    readonly jid?: string
  }): AsyncIterable<StoredReturn & { readonly missing?: string }>
  fire(tag: string, data: object): Promise<boolean>
  /** Events whose tag starts with `prefix`, from now on. */
  events(
    prefix: string,
    signal: AbortSignal,
  ): AsyncIterable<{ readonly tag: string; readonly data: Record<string, unknown> }>
  readonly jobs: {
    /** Jobs of this caller alone are found here; of everybody if it is not there. */
    readonly onlyOf?: string
    /** `source`: only from the store of this returner; `local_cache` is the master's own. */
    get(jid: string, options?: { readonly source?: string | undefined }): Promise<StoredJob | undefined>
    returns(jid: string, options?: { readonly source?: string | undefined }): Promise<StoredReturn[]>
    /**
     * What is known of the minions of a job that have not returned. Those that are connected are asked, which takes
     * some seconds if one is silent. `reason` are sentences for people.
     */
    unreturned(
      jid: string,
    ): Promise<{ readonly id: string; readonly state: string; readonly reason: string }[]>
    /** Greatest jid first. */
    list(query?: JobQuery & { readonly source?: string | undefined }): AsyncIterable<ListedJob>
    readonly archive: JobArchive
  }
  readonly returners: ReturnerAdmin
  /** Tell who waits for this runner, and the event bus (`salt/run/<jid>/progress`), how far it is. */
  progress(data: Readonly<Record<string, unknown>>): Promise<void>
  /** Whom a target means by the facts the master has; nobody is asked. `type` is a target type by Salt's name. */
  match(tgt: unknown, type?: string, options?: { readonly delimiter?: string | undefined }): Promise<Matched>
  /** Run an execution function on this host. */
  call(fun: string, args?: readonly unknown[], kwargs?: Readonly<Record<string, unknown>>): Promise<unknown>
  /** Runners and wheel functions that run now, but the one that asks. */
  running(): Promise<RunningRun[]>
  /**
   * End one of them, with the processes it started: its signal is aborted, and after 3 seconds it is killed. False if there
   * is none of that id.
   */
  killRun(jid: string): Promise<boolean>
  readonly cache: MasterCache
  readonly keys: KeyAdmin
  readonly tokens: TokenAdmin
  readonly access: AccessAdmin
  readonly audit: AuditAdmin
  /**
   * Set options in `<name>.conf` beside the other configuration of the master (`master.d`); others in that file stay with
   * `keep`. Gives its path. What the master could not start with is refused, and nothing is changed then.
   */
  writeConfig(
    name: string,
    options: Readonly<Record<string, unknown>>,
    how?: { readonly keep?: boolean },
  ): Promise<string>
  /** Batches that the master runs or has run (`salt --batch --async`). */
  readonly batches: {
    /** Newest first. */
    list(): AsyncIterable<BatchStatus>
    get(jid: string): Promise<BatchStatus | undefined>
    /** Have it start nobody any more. False if it is done, or there is none. */
    stop(jid: string): Promise<boolean>
  }
  /** Ids of minions whose key is accepted. */
  acceptedIds(): Promise<string[]>
  /** Grains the master has cached for a minion. */
  cachedGrains(id: string): Promise<Readonly<Record<string, unknown>> | undefined>
  /** Ids with an open connection to the publish port, by what the master last saw of them. */
  connectedIds(): Promise<string[]>
  /** The file server of this master, asked directly. `backends` are names; those of `fileserver_backend` if not said. */
  readonly fileServer: {
    envs(backends?: readonly string[]): Promise<Readonly<Record<string, readonly string[]>>>
    list(saltenv: string, backends?: readonly string[]): Promise<FileLists>
    /** Have every worker read the folders anew. Gives backend → environments. */
    clearListCache(
      saltenv?: readonly string[],
      backends?: readonly string[],
    ): Promise<Readonly<Record<string, readonly string[]>>>
  }
  /** Bring extensions from the file server to this host (`salt-run saltutil.sync_*`). */
  sync(request: SyncRequest): Promise<SyncReport>
}

/**
 * Read access to what the loader knows, for `sys.*` and help. Names are `module.function`; `pattern` is a shell glob.
 * Nothing is imported to list or document, but files that decide themselves whether they are offered (`virtual`).
 */
export interface LoaderView {
  /** Names of all modules, sorted. */
  modules(pattern?: string): Promise<string[]>
  /** Names of all functions, sorted. */
  functions(pattern?: string): Promise<string[]>
  /** Documentation comment of a function or module, without importing. */
  doc(name: string): Promise<string | undefined>
  /** As Salt's `sys.argspec`. */
  argspec(name: string): Promise<Argspec | undefined>
  /** Parameters of a function as one JSON Schema. */
  schema(name: string): Promise<JsonSchema | undefined>
  reload(): Promise<void>
  /** Files that could not be used, with the reason. */
  failures(): Promise<Record<string, string>>
  /** Import every file of users. Path → reason, of those that cannot be: nothing of them is listed from then on. */
  broken(): Promise<Record<string, string>>
  /** Virtual name → file that provides it. */
  providers(): Promise<Record<string, string>>
  /** Which file provides a function or module, and why each other that could does not. */
  why(name: string): Promise<Explanation>
  has(name: string): Promise<boolean>
  /** The same for another kind: `runners`, `returners`, `outputters`, … Undefined for a kind there is not. */
  of(kind: string): LoaderView | undefined
}
/** Where a function comes from. */
export interface Explanation {
  readonly name: string
  /** Path of the file, if any. */
  readonly provided_by: string | null
  /** Path of each file that could provide it → what it does about it, as a sentence. */
  readonly files: Readonly<Record<string, string>>
  readonly advice?: string
}
/** A signature in Salt's form; `null` for what it does not have. `defaults` belong to the last of `args`. */
export interface Argspec {
  readonly args: readonly string[] | null
  readonly defaults: readonly unknown[] | null
  readonly varargs: true | null
  readonly kwargs: true | null
}

export interface Context {
  /** The configuration of this daemon, Salt's key names. */
  readonly opts: Readonly<Record<string, unknown>>
  readonly id: string
  readonly grains: Readonly<Record<string, unknown>>
  readonly pillar: Readonly<Record<string, unknown>>
  /** Scratch values that live as long as the job (Salt's `__context__`). */
  readonly context: Map<string, unknown>
  readonly log: Log
  /** Aborted when the job is killed or times out. */
  readonly signal: AbortSignal
  /** Absent when called from the command line without a job. */
  readonly job?: Job
  /** True if the function was called by another function and is not a job of its own. */
  readonly nested: boolean
  /** Exit code of the job; also decides its `success` (wire protocol §10.3). */
  retcode: number
  /**
   * Call another function by name: `call('cmd.run', { cmd: 'id' })`, or with a list of values by position and more by
   * name, `call('cmd.run', ['id'], { cwd: '/' })`. What `Functions` knows is checked where it is written.
   */
  call<const N extends FunctionName>(name: N, ...given: CallArguments<N>): Promise<CallResult<N>>
  /** Does a target mean this minion? `type` is a target type by Salt's name; `minionId` asks for another id. */
  match(
    tgt: unknown,
    type: string,
    options?: { readonly delimiter?: string; readonly minionId?: string },
  ): Promise<boolean>
  readonly loader: LoaderView
  /** Only on a minion. */
  readonly minion: MinionServices
  /** Only for runners, on the master's host. */
  readonly master: MasterServices
}
