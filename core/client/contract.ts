/** A job to publish. */
export interface PublishRequest {
  /** What `tgtType` says: a glob, a list of ids, … */
  readonly tgt: unknown
  readonly fun: string | readonly string[]
  /** For several functions one list of arguments each. */
  readonly arg?: readonly unknown[]
  readonly kwarg?: Readonly<Record<string, unknown>>
  readonly tgtType?: string
  /** Seconds to wait before minions are asked whether they still work; default: `timeout` of the configuration. */
  readonly timeout?: number
  /** Seconds to wait for the answer to that; default: `gather_job_timeout`. */
  readonly gatherJobTimeout?: number
  /** Returners, comma separated. */
  readonly ret?: string
  readonly jid?: string
  readonly delimiter?: string
  readonly metadata?: unknown
  readonly retConfig?: string
  readonly retKwargs?: unknown
  readonly moduleExecutors?: unknown
  readonly executorOpts?: unknown
  /** Default: who runs this program. */
  readonly user?: string
}

export interface PublishedJob {
  readonly jid: string
  /** Who is expected to answer. */
  readonly minions: readonly string[]
  /** Ids of a list target without accepted key. */
  readonly missing: readonly string[]
}

/** How a job ended on one minion. */
export type MinionResult =
  | {
      readonly id: string
      readonly state: 'returned'
      readonly return: unknown
      readonly retcode: number
      readonly success: boolean
      readonly out?: string
      readonly jid: string
      readonly fun: string | readonly string[]
      readonly metadata?: unknown
    }
  | { readonly id: string; readonly state: 'missing'; readonly reason: string }

/** A published job and its results as they come, who is missing last; ends when every minion has returned or was given up. */
export interface Run extends AsyncIterable<MinionResult>, PublishedJob {}
