import type { JobArguments, JobFunctions, UntypedName } from '../../author/calls.ts'
import type { JobTarget } from '../../author/context.ts'
import type { JobState } from '../../jobs/job-states.ts'
import type { Refusal, SyndicsOfJob } from '../../wire/publish-request.ts'
import type { RawArguments } from '../../wire/raw-arguments.ts'

/**
 * A job to publish. `F` are its functions: names that TypeScript knows, with which it checks the arguments, or those of `untyped`. With
 * several functions, `arg` has one list of arguments for each.
 */
export type JobRequest<F extends JobFunctions> = PublishSettings & { readonly fun: F } & JobArguments<F>

/** A job whose functions have no known types. */
export interface PublishRequest extends AnyRequest {
  readonly fun: UntypedName | readonly UntypedName[]
}

/** A job of whatever functions. */
export interface AnyRequest extends PublishSettings {
  readonly fun: string | readonly string[]
  readonly arg?: readonly unknown[]
  readonly kwarg?: Readonly<Record<string, unknown>> | undefined
}

/** What a job is beside its functions and their arguments. */
interface PublishSettings extends JobTarget {
  /** The arguments as typed on a command line, from which declared types are read. */
  readonly words?: RawArguments | undefined
  /** Seconds to wait before minions are asked whether they still work; default: `timeout` of the configuration. */
  readonly timeout?: number | undefined
  /** Seconds to wait for the answer to that; default: `gather_job_timeout`. */
  readonly gatherJobTimeout?: number | undefined
  /** Returners, comma separated. */
  readonly ret?: string
  readonly jid?: string
  readonly delimiter?: string | undefined
  readonly metadata?: unknown
  readonly retConfig?: string
  readonly retKwargs?: unknown
  readonly moduleExecutors?: unknown
  readonly executorOpts?: unknown
  /**
   * Seconds in which minions that are away still get the job, each once; their results are `waiting`. Default: 0, only those that are
   * connected, or reconnecting. A master that cannot do this, as one of Python Salt, sends the job to the connected minions, and the
   * published job has no `delivery`.
   */
  readonly deliverWithin?: number | undefined
  /** False: publish it even if no minion would run it. Masters of Python Salt never check. */
  readonly check?: boolean | undefined
  /** Default: the user who runs this program. */
  readonly user?: string | undefined
  /** Extras for the master, by Salt's names. */
  readonly extras?: Readonly<Record<string, unknown>>
  /**
   * Ends the waiting, not the job: reading the results rejects with its reason at once. A batch run by this program starts
   * no more minions.
   */
  readonly signal?: AbortSignal | undefined
}

export interface PublishedJob {
  readonly jid: string
  /** Minions that are expected to return. */
  readonly minions: readonly string[]
  /** Ids of a list target without accepted key. */
  readonly missing: readonly string[]
  /** Members of `minions` that the target may not match: the master lacks their grains or pillar. */
  readonly unknown?: readonly string[]
  /** With `deliverWithin`: until when minions may take the job, and those that were away when it was published. */
  readonly delivery?: { readonly until: Date; readonly waiting: readonly string[] }
  /** On a master of masters: the syndics that the job goes to. Those that report add the minions below them while it is followed. */
  readonly syndics?: SyndicsOfJob
  /** Minions that would refuse the job or one of its functions, and why, as far as the master can predict. */
  readonly refusals?: readonly Refusal[]
}

/** What the master would do with a job, without publishing it. */
export type Plan =
  /** `reason` is a sentence; `rule` names the entry of the configuration that forbids it. */
  | { readonly allowed: false; readonly user: string; readonly reason?: string; readonly rule?: string }
  | {
      readonly allowed: true
      readonly user: string
      /** The rule that allows it. */
      readonly rule?: string
      /** Minions that the target matches, and which of them are connected. */
      readonly minions: readonly string[]
      readonly connected: readonly string[]
      /** Ids of a list target without accepted key. */
      readonly missing: readonly string[]
      /** Members of `minions` that the target may not match: the master lacks their grains or pillar. */
      readonly unknown?: readonly string[]
      /** Why the target matches no minion. */
      readonly nobody?: string
      readonly groups: readonly PlannedGroup[]
    }

/** Minions that would treat the job alike. */
export interface PlannedGroup {
  readonly minions: readonly string[]
  readonly calls: readonly PlannedCall[]
}

export interface PlannedCall {
  readonly fun: string
  /** False: the functions of these minions are not known. */
  readonly known: boolean
  /** Arguments by name, as the function would get them; as sent if its parameters are not known. Secrets are masked. */
  readonly arguments?: unknown
  readonly refusal?: string
}

/** The outcome of a job on one minion. `R` is the type of what its function returns. */
export type MinionResult<R = unknown> =
  | (Answer & { readonly state: 'returned'; readonly jobState: 'returned'; readonly return: R })
  /** The exit code is not 0, or success was denied. The return is mostly the text of an error. */
  | (Answer & { readonly state: 'failed'; readonly jobState: 'failed'; readonly return: unknown })
  | NoAnswer

/** What a minion says of a job that has ended there. */
interface Answer {
  readonly id: string
  /** The evidence for the state, in one sentence. */
  readonly why: string
  readonly retcode: number
  readonly success: boolean
  readonly out?: string
  readonly jid: string
  readonly fun: string | readonly string[]
  /** The arguments, with secrets masked. */
  readonly fun_args?: readonly unknown[]
  readonly metadata?: unknown
  /** Values too large for the event (`max_event_size`) are `VALUE_TRIMMED`, and the job cache cannot be read here. */
  readonly trimmed?: true
}

interface NoAnswer {
  readonly id: string
  /**
   * `missing`: it did not return. `waiting`: it is away, and gets the job when it comes. `unknown`: it did not return, and it is
   * not known whether the target matches it.
   */
  readonly state: 'missing' | 'waiting' | 'unknown'
  /** The state in which it was given up (`core/jobs/job-states`). */
  readonly jobState: JobState
  /** The evidence for the state, in one or two sentences. */
  readonly why: string
  /** Message for users: that it did not return, its state and why, and what to do. */
  readonly reason: string
  readonly jid: string
}

/** Whether a minion has returned, successfully or not. */
export const hasReturned = <R extends { readonly state: string }>(
  result: R,
): result is Extract<R, { readonly state: 'returned' | 'failed' }> =>
  result.state === 'returned' || result.state === 'failed'

/** A row that a running function has yielded on one minion (wire protocol §12, tag `prog`). */
export interface ProgressRow {
  readonly id: string
  readonly state: 'progress'
  /** Index of the row, from 0, for each function of a job. */
  readonly number: number
  readonly row: unknown
}

/** Progress of a job. Each expected minion is counted once. */
export interface JobCounts {
  readonly expected: number
  readonly returned: number
  /** Number of minions that have reported that they run it, or have queued it. */
  readonly running: number
  /** Number of minions that have reported nothing yet. */
  readonly silent: number
  /** Number of silent minions that have just lost their connection to the master: those of salt-ts get the job when they are back. */
  readonly reconnecting: number
  /** Number of minions that are away and get the job when they come. */
  readonly waiting: number
  /** Number of minions that were given up. */
  readonly missing: number
}

/** A published job and its results as they come, missing minions last; ends when every minion has returned or was given up. */
export interface Run<R = unknown> extends AsyncIterable<MinionResult<R>>, PublishedJob {
  /** Return the progress, by what has been read so far. */
  counts(): JobCounts
}

/** Options of a batch beside its size. */
export interface BatchSettings {
  /** Seconds to wait after a minion has ended before the next one starts. */
  readonly batchWait?: number | undefined
  /** Start no more minions once one has failed or not returned. */
  readonly failhard?: boolean | undefined
  /** Start no more minions once more than this many, or this share of the present ones (`10%`), have failed or not returned. */
  readonly maxFail?: number | string | undefined
  /** Called when a wave was published, before its results. */
  readonly onWave?: ((wave: Wave) => void) | undefined
}

/** One of the jobs of a batch. */
export interface Wave {
  readonly jid: string
  readonly minions: readonly string[]
}

/**
 * A batch and its results as they come; minions that were not reached or did not answer the ping come last, as missing.
 * `jid` is that of its first wave, `minions` are those that answered the ping.
 */
export interface BatchRun<R = unknown> extends Run<R> {
  /** Minions that did not answer the ping. One that answers later joins the batch. */
  readonly silent: readonly string[]
  /** Whether the job is published for silent minions at the end (`deliverWithin`); those that may take it later then wait for it. */
  readonly deliversLater: boolean
  /** Number of minions that run at once. */
  readonly size: number
  /** Minions that have not been started. */
  readonly queued: readonly string[]
  /** The reason why no more minions are started although some are left, as a sentence. */
  readonly halted: string | undefined
  /** Start no more minions; those that run are still waited for. */
  stop(): void
}

/** A published job, its results, and the rows that its functions yield meanwhile. */
export interface Stream<R = unknown> extends AsyncIterable<MinionResult<R> | ProgressRow>, PublishedJob {
  counts(): JobCounts
}
