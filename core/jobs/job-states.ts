import { shownTime } from '../dialect/strftime.ts'
import type { NotDelivered } from '../wire/take-job.ts'

/**
 * The state machine of one job on one minion. Pure: it takes signals and returns the next state with its texts for users. Clients
 * that wait for a job and later look-ups use the same machine.
 *
 * published → received → started → returned | failed, or given up: timed_out | not_connected | key_not_accepted | unknown.
 * With `deliver_within`: published | waiting → delivered → received → …, or it ends as expired | cancelled.
 */

export type JobState =
  /** Published; the minion has not reported anything yet. */
  | 'published'
  /** The minion is away, and gets the job when it comes (`deliver_within`); or its turn in a batch has not come. */
  | 'waiting'
  /** The minion has taken a job with `deliver_within`. */
  | 'delivered'
  /** The minion has queued it (`process_count_max`). */
  | 'received'
  /** The minion runs it. */
  | 'started'
  | 'returned'
  /** Returned, with an exit code other than 0 or without success. */
  | 'failed'
  /** The minion had queued or started it and then stopped answering. */
  | 'timed_out'
  | 'not_connected'
  | 'key_not_accepted'
  /** The minion had not taken the job when its time was over. */
  | 'expired'
  /** The job was cancelled before the minion had taken it. */
  | 'cancelled'
  /** Undetermined: the minion does not answer or does not have the job, or there is no master to query. */
  | 'unknown'

export interface JobStatus {
  readonly state: JobState
  /** The evidence for the state, in one or two sentences. */
  readonly why: string
  /** Text for users if the minion was given up: Salt's words, the reason and what to do. */
  readonly advice?: string
}

/** The reason why a minion is given up. */
export type GivenUp =
  /** It has no accepted key. */
  | 'no-key'
  /** It did not answer `saltutil.find_job`. */
  | 'no-response'
  /** It did not answer, and a key with its id was denied. */
  | 'key-denied'
  /** It did not answer, and its connection to the publish port is lost. */
  | 'not-connected'
  /** It reported twice that the job does not run, but returned nothing. */
  | 'not-running'
  | 'not-stored'
  /** No master was reachable that could have asked it. */
  | 'master-gone'

/**
 * Milliseconds after which a minion is asked again that answered that a job does not run. The answer may overtake the return,
 * which a Python minion sends from another process.
 */
export const ASK_AGAIN_MS = 500

/**
 * How long minions may need to reconnect to a master that was down: a second for up to a thousand of salt-ts, 11 s for those of
 * Python Salt. Asking before is useless.
 */
export const RECONNECT_MS = 15_000

export type JobSignal =
  /** The minion reports that the job runs: by a start event, a row, or its answer to a question. */
  | { readonly type: 'started' }
  /** The minion reports that the job is queued. */
  | { readonly type: 'received' }
  /** The minion has taken the job. */
  | { readonly type: 'delivered' }
  /** The minion may take the job until then, in milliseconds since 1970, and does not have it. */
  | { readonly type: 'waiting'; readonly untilMs: number; readonly jid: string }
  /** The minion does not get the job any more. */
  | { readonly type: NotDelivered }
  | { readonly type: 'returned'; readonly success: boolean; readonly retcode: number }
  | { readonly type: 'given-up'; readonly why: GivenUp; readonly id: string; readonly jid: string }

const RETURNED: readonly JobState[] = ['returned', 'failed']
const UNDER_WAY: readonly JobState[] = ['published', 'waiting', 'delivered', 'received', 'started']

/** The status of a job that was just published to a minion. */
export const PUBLISHED_STATUS: JobStatus = {
  state: 'published',
  why: 'It was published; the minion has not reported anything yet.',
}

/** Whether the job may still change its state without a return. */
export const isUnderWay = ({ state }: JobStatus): boolean => UNDER_WAY.includes(state)

/** Return the text for users. */
export function sentenceOf(status: JobStatus): string {
  const { state, why, advice } = status
  if (advice) return advice
  return isUnderWay(status) ? `Minion did not return so far.\nState: ${state}. ${why}` : why
}

/** Return the status after a signal. A return is final. A given-up state is changed only by a return. */
export function nextStatus(status: JobStatus, signal: JobSignal): JobStatus {
  if (RETURNED.includes(status.state)) return status
  if (signal.type === 'returned') return afterReturn(signal)
  if (!isUnderWay(status)) return status
  if (signal.type === 'given-up') return givenUp(status, signal)
  if (signal.type === 'waiting') return waiting(signal)
  if (signal.type === 'expired' || signal.type === 'cancelled') return NOT_DELIVERED[signal.type]
  if (signal.type === 'started') return started
  if (status.state === 'started') return status
  if (signal.type === 'received') return received
  return status.state === 'received' ? status : delivered
}

const delivered: JobStatus = {
  state: 'delivered',
  why: 'The minion has taken the job and is about to run it.',
}
const received: JobStatus = {
  state: 'received',
  why: 'The minion has the job and has queued it (process_count_max).',
}
const started: JobStatus = { state: 'started', why: 'The minion is running it.' }

const NOT_DELIVERED: Record<NotDelivered, JobStatus> = {
  expired: {
    state: 'expired',
    why: 'The minion did not take the job in time, and does not get it any more (deliver_within).',
  },
  cancelled: {
    state: 'cancelled',
    why: 'The job was cancelled before the minion had taken it.',
  },
}

function waiting({ untilMs, jid }: Extract<JobSignal, { type: 'waiting' }>): JobStatus {
  const why = `The minion has not taken the job. It gets it if it connects before ${shownTime(untilMs)}.`
  return {
    state: 'waiting',
    why,
    advice: `Minion has not taken the job yet. [Waiting]\nState: waiting. ${why}\nTo cancel it: salt-run jobs.cancel ${jid}`,
  }
}

function afterReturn({ success, retcode }: Extract<JobSignal, { type: 'returned' }>): JobStatus {
  if (success && retcode === 0) return { state: 'returned', why: 'The minion returned.' }
  return { state: 'failed', why: `The minion returned with exit code ${retcode || 1}.` }
}

function givenUp(
  { state: before }: JobStatus,
  { why, id, jid }: Extract<JobSignal, { type: 'given-up' }>,
): JobStatus {
  const state = stateWithout(before, why)
  const reason = `${WHY[why]}${LAST_HEARD[before] ?? ''}`
  const lines = [
    `Minion did not return. [${BRACKETS[why]}]`,
    `State: ${state}. ${reason}`,
    ...HINTS[why](jid, id),
  ]
  return { state, why: reason, advice: lines.join('\n') }
}

function stateWithout(before: JobState, why: GivenUp): JobState {
  if (why === 'no-key') return 'key_not_accepted'
  if (why === 'not-connected') return 'not_connected'
  const isSilent = why === 'no-response' || why === 'key-denied'
  return isSilent && before !== 'published' && before !== 'waiting' ? 'timed_out' : 'unknown'
}

/** Texts in brackets. "No response" and "Not connected" are Salt's, which scripts search for. */
const BRACKETS: Record<GivenUp, string> = {
  'no-response': 'No response',
  'key-denied': 'No response',
  'not-connected': 'Not connected',
  'not-running': 'Not running',
  'not-stored': 'Not stored',
  'no-key': 'No accepted key',
  'master-gone': 'No master',
}

const WHY: Record<GivenUp, string> = {
  'no-response': 'It did not answer when it was asked about the job.',
  'key-denied':
    'It did not answer when it was asked about the job, and a host with the same id but another key than the accepted one was denied.',
  'not-connected': 'It was connected to this master but no longer is.',
  'not-running': 'It answers that it is not running the job, and the master has no return of it.',
  'not-stored': 'It returned, but the master could not store the return.',
  'no-key': 'The master has no accepted key for this id.',
  'master-gone': 'The master became unreachable while the job ran.',
}

const LAST_HEARD: Partial<Record<JobState, string>> = {
  delivered: ' It had taken the job.',
  received: ' According to its last report, the job was queued.',
  started: ' According to its last report, the job was running.',
}

const lookUp = (jid: string) => [
  `The job may still finish. Look it up later: salt-run jobs.lookup_jid ${jid} missing=True`,
]

const HINTS: Record<GivenUp, (jid: string, id: string) => readonly string[]> = {
  'no-response': (jid) => [
    'It may be down, disconnected or overloaded: check whether salt-minion is running on that host, and read its log.',
    ...lookUp(jid),
  ],
  'key-denied': (_, id) => [
    `Either it is down, or it has a new key, or another host uses its id: compare the fingerprints (salt-key -f ${id}).`,
    `To accept a new key: salt-key -a ${id} --include-denied.`,
  ],
  'not-connected': (jid) => [
    'Check whether the host is up, salt-minion is running there, and it can reach both ports of the master.',
    ...lookUp(jid),
  ],
  'not-running': () => [
    'Either it never got the job, or the job was killed, or the minion was restarted meanwhile: read its log,',
    'then run the job again if that does no harm.',
  ],
  'not-stored': (jid) => [
    'Read the log of the master: its disk may be full. The minion repeats the return until it is stored.',
    `Look it up later: salt-run jobs.lookup_jid ${jid} missing=True`,
  ],
  'no-key': () => ['List the keys with salt-key -L, and accept a pending one with salt-key -a.'],
  'master-gone': (jid) => ['Check whether salt-master is running, and read its log.', ...lookUp(jid)],
}
