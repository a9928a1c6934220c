/** What a part of Salt does for one job, as a span. Never its arguments, nor what it returns. */
export interface JobSpan {
  readonly part: 'client' | 'publish' | 'job' | 'run' | 'return' | 'write'
  readonly jid: string
  readonly fun: unknown
  /** Of all parts after `publish`. */
  readonly minion?: string
  /** Of `write`. */
  readonly returner?: string
  /** What it is done for, if that is another part than usual: a minion's returner writes for its job, a wave has no client. */
  readonly under?: 'job' | 'nothing'
  /** When it began. Milliseconds since 1970. */
  readonly start: number
  readonly retcode?: unknown
  /** Minions the job is for. */
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

/** What its id is worked out from. */
export const nameOf = ({ part, minion, returner }: Pick<JobSpan, 'part' | 'minion' | 'returner'>): string =>
  part === 'client' || part === 'publish' ? part : [part, minion, ...(returner ? [returner] : [])].join('/')

/** The same of its parent; undefined for the first of a trace. */
export function parentOf({ part, minion, under }: JobSpan): string | undefined {
  const parent = under === 'job' ? under : under === 'nothing' ? undefined : parents[part]
  return parent && nameOf({ part: parent, ...(minion !== undefined && { minion }) })
}
