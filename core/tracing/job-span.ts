/** The span of one part of a job. Never contains arguments or returns. */
export interface JobSpan {
  readonly part: 'client' | 'publish' | 'job' | 'run' | 'return' | 'write'
  readonly jid: string
  readonly fun: unknown
  /** Set for all parts after `publish`. */
  readonly minion?: string
  /** Set for `write`. */
  readonly returner?: string
  /** Parent part, if it is not the usual one: a minion's returner writes under its job, a wave of a batch has no client. */
  readonly under?: 'job' | 'nothing'
  /** Start time in milliseconds since 1970. */
  readonly start: number
  readonly retcode?: unknown
  /** Number of minions that the job is sent to. */
  readonly minions?: number
}

type Part = JobSpan['part']

const parents: Readonly<Record<Part, Part | undefined>> = {
  client: undefined,
  publish: 'client',
  job: 'publish',
  run: 'job',
  return: 'job',
  write: 'return',
}

/** Return the name of a span within its job, from which its id is computed. */
export const spanName = ({
  part,
  minion,
  returner,
}: Pick<JobSpan, 'part' | 'minion' | 'returner'>): string =>
  part === 'client' || part === 'publish' ? part : [part, minion, ...(returner ? [returner] : [])].join('/')

/** Return the name of the parent of a span; undefined for the root of a trace. */
export function parentOf({ part, minion, under }: JobSpan): string | undefined {
  const parent = under === 'job' ? under : under === 'nothing' ? undefined : parents[part]
  return parent && spanName({ part: parent, ...(minion !== undefined && { minion }) })
}
