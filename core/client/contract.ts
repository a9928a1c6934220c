import type { JobState } from '../jobs/job-states.ts'
import type { JobWords } from '../wire/typed-words.ts'

/** A job to publish. */
export interface PublishRequest {
  /** What `tgtType` says: a glob, a list of ids, … */
  readonly tgt: unknown
  readonly fun: string | readonly string[]
  /** For several functions one list of arguments each. */
  readonly arg?: readonly unknown[]
  readonly kwarg?: Readonly<Record<string, unknown>>
  /** Of a command line: the arguments as they were typed, which declared types go by. */
  readonly words?: JobWords | undefined
  readonly tgtType?: string | undefined
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
  /** False: publish it even if no minion would run it. Masters of Python Salt never look. */
  readonly check?: boolean | undefined
  /** Default: who runs this program. */
  readonly user?: string | undefined
  /** Extras for the master, in Salt's names. */
  readonly extras?: Readonly<Record<string, unknown>>
  /**
   * Ends the waiting, not the job: whoever reads the results is thrown its reason at once. A batch that is issued from here
   * starts nobody any more.
   */
  readonly signal?: AbortSignal | undefined
}

export interface PublishedJob {
  readonly jid: string
  /** Who is expected to answer. */
  readonly minions: readonly string[]
  /** Ids of a list target without accepted key. */
  readonly missing: readonly string[]
  /** Who of `minions` is perhaps not meant: the master knows too little of them. */
  readonly unknown?: readonly string[]
  /** Who of them would refuse it, or a function of it, and why, as far as it is known beforehand. */
  readonly refusals?: readonly Refusal[]
}

export interface Refusal {
  readonly minions: readonly string[]
  readonly reason: string
}

/** What would become of a job. */
export type Plan =
  /** `reason` is a sentence; `rule` says where in the configuration it stands, of one that forbids it. */
  | { readonly allowed: false; readonly user: string; readonly reason?: string; readonly rule?: string }
  | {
      readonly allowed: true
      readonly user: string
      /** Which rule allows it. */
      readonly rule?: string
      /** Whom it is for, and which of them are connected. */
      readonly minions: readonly string[]
      readonly connected: readonly string[]
      /** Ids of a list target without accepted key. */
      readonly missing: readonly string[]
      /** Who of `minions` is perhaps not meant: the master knows too little of them. */
      readonly unknown?: readonly string[]
      /** Why it is for nobody. */
      readonly nobody?: string
      readonly groups: readonly PlannedGroup[]
    }

/** Minions that would do the same. */
export interface PlannedGroup {
  readonly minions: readonly string[]
  readonly calls: readonly PlannedCall[]
}

export interface PlannedCall {
  readonly fun: string
  /** False: it is not known what these minions offer. */
  readonly known: boolean
  /** As the function would get them, by name; as they are sent, where its parameters are not known. Secrets are masked. */
  readonly arguments?: unknown
  readonly refusal?: string
}

/** How a job ended on one minion. */
export type MinionResult =
  | {
      readonly id: string
      readonly state: 'returned'
      /** `failed` if the exit code is not 0, or success was denied. */
      readonly jobState: JobState
      /** A sentence: how that is known. */
      readonly why: string
      readonly return: unknown
      readonly retcode: number
      readonly success: boolean
      readonly out?: string
      readonly jid: string
      readonly fun: string | readonly string[]
      /** As they may be shown. */
      readonly fun_args?: readonly unknown[]
      readonly metadata?: unknown
      /** What was too large for its event (`max_event_size`) is `VALUE_TRIMMED`, and the job cache cannot be read here. */
      readonly trimmed?: true
    }
  | {
      readonly id: string
      /** It did not return; `unknown`: nor is it known whether the target means it. */
      readonly state: 'missing' | 'unknown'
      /** In which state it was given up (`core/jobs/job-states`). */
      readonly jobState: JobState
      /** A sentence or two: how that is known. */
      readonly why: string
      /** As people are told: that it did not return, in which state it is and why, and what to do. */
      readonly reason: string
      readonly jid: string
    }

/** A row that a function has yielded while it runs on one minion (wire protocol §12, tag `prog`). */
export interface ProgressRow {
  readonly id: string
  readonly state: 'progress'
  /** From 0; of each function of a job with several. */
  readonly number: number
  readonly row: unknown
}

/** How far a job is. A minion is counted once; together they are the expected ones. */
export interface JobCounts {
  readonly expected: number
  readonly returned: number
  /** Have said that they work on it, or that it waits for its turn there. */
  readonly running: number
  /** Have not been heard of yet. */
  readonly silent: number
  /** Were given up. */
  readonly missing: number
}

/** A published job and its results as they come, who is missing last; ends when every minion has returned or was given up. */
export interface Run extends AsyncIterable<MinionResult>, PublishedJob {
  /** How far it is, by the results and receipts that have been read so far. */
  counts(): JobCounts
}

/** How a batch goes on besides its size. */
export interface BatchSettings {
  /** Seconds a slot stays closed after its minion is done. */
  readonly batchWait?: number | undefined
  /** Start nobody any more when one has failed or not returned. */
  readonly failhard?: boolean | undefined
  /** The same when more than so many have, or so many percent of those that are there (`10%`). */
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
 * A job on so many minions at a time, and its results as they come: at the end of those that were not reached and those
 * that are not there, as missing. `jid` is that of its first wave, `minions` are those that answered a ping.
 */
export interface BatchRun extends Run {
  /** Who did not answer. One of them that answers later joins. */
  readonly silent: readonly string[]
  /** So many at a time. */
  readonly size: number
  /** Who has not been started. */
  readonly queued: readonly string[]
  /** A sentence, once no more are started although some are left. */
  readonly halted: string | undefined
  /** Start nobody any more; who runs is still waited for. */
  stop(): void
}

/** The same with the rows that functions yield meanwhile. */
export interface Stream extends AsyncIterable<MinionResult | ProgressRow>, PublishedJob {
  counts(): JobCounts
}
