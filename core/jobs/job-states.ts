/**
 * What is known of one job on one minion. Pure: signals go in, the next state comes out, with the sentence people read.
 *
 * published → seen → running → returned | failed, or given up: unreachable | expired, or ended: killed.
 */

type JobState =
  | 'published'
  | 'seen'
  | 'running'
  | 'returned'
  | 'failed'
  | 'killed'
  | 'unreachable'
  | 'expired'

export interface JobStatus {
  readonly state: JobState
  /** Milliseconds since 1970. */
  readonly since: number
  /** A sentence. */
  readonly reason: string
  /** As far as the master knows; undefined if it cannot tell. */
  readonly connected?: boolean
}

export type JobSignal =
  /** The connection of the minion to the publish port is there or not. */
  | { readonly type: 'connection'; readonly connected: boolean }
  /** The minion answered `saltutil.find_job`: the job runs there, or it does not. */
  | { readonly type: 'found'; readonly running: boolean }
  | { readonly type: 'returned'; readonly success: boolean; readonly retcode?: number }
  /** A signal was sent to the job on request. */
  | { readonly type: 'killed'; readonly signal?: string }
  /** Nobody waits any longer. */
  | { readonly type: 'deadline' }

const returned: readonly JobState[] = ['returned', 'failed']
const givenUp: readonly JobState[] = ['unreachable', 'expired', 'killed']

/** The state of a job that was just published to a minion. */
export function published(now: number): JobStatus {
  return {
    state: 'published',
    since: now,
    reason: 'The job was published; the minion has not been heard of yet.',
  }
}

/** Nothing more is waited for. A return that comes after all still replaces unreachable, expired and killed. */
export function isFinal({ state }: JobStatus): boolean {
  return returned.includes(state) || givenUp.includes(state)
}

/** The state after a signal. A return is final for ever; what was given up is changed by a return only. */
export function advance(status: JobStatus, signal: JobSignal, now: number): JobStatus {
  if (returned.includes(status.state)) return status
  if (signal.type === 'returned') return afterReturn(status, signal, now)
  if (givenUp.includes(status.state)) return status
  switch (signal.type) {
    case 'connection':
      return { ...status, connected: signal.connected }
    case 'found':
      return signal.running ? running(status, now) : notFound(status, now)
    case 'killed':
      return move(status, 'killed', killedBy(signal.signal), now)
    case 'deadline':
      return giveUp(status, now)
  }
}

function afterReturn(
  status: JobStatus,
  { success, retcode }: Extract<JobSignal, { type: 'returned' }>,
  now: number,
): JobStatus {
  if (success && !retcode) return move(status, 'returned', 'The minion returned.', now)
  return move(status, 'failed', `The minion returned with exit code ${retcode ?? 1}.`, now)
}

function running(status: JobStatus, now: number): JobStatus {
  if (status.state === 'running') return status
  return move(status, 'running', 'The job is running on the minion.', now)
}

/** Not running there: either the return is on its way, or the job never arrived. */
function notFound(status: JobStatus, now: number): JobStatus {
  const reason =
    status.state === 'running'
      ? 'The minion answers, and the job no longer runs there; its return has not arrived.'
      : 'The minion answers, but the job does not run there: it never arrived, or its return is on its way.'
  return move(status, 'seen', reason, now)
}

function giveUp(status: JobStatus, now: number): JobStatus {
  switch (status.state) {
    case 'running':
      return move(
        status,
        'expired',
        'Minion did not return. [Still running] It was running when the time was over.',
        now,
      )
    case 'seen':
      return move(status, 'expired', `Minion did not return. [No return] ${status.reason}`, now)
    default:
      return move(status, 'unreachable', unreachable(status.connected), now)
  }
}

function unreachable(connected: boolean | undefined): string {
  if (connected === false) return 'Minion did not return. [Not connected]'
  const hint = connected
    ? 'It is connected, but did not answer when it was asked about the job.'
    : 'It may be down.'
  return `Minion did not return. [No response] ${hint}`
}

const killedBy = (signal: string | undefined) =>
  `The job was killed on request${signal ? ` with ${signal}` : ''} and has not returned.`

function move({ connected }: JobStatus, state: JobState, reason: string, now: number): JobStatus {
  return { state, since: now, reason, ...(connected !== undefined && { connected }) }
}
