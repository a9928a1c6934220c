/**
 * What is known of one job on one minion. Pure: signals go in, the next state comes out, with the sentences people read.
 * Who waits for a job and who looks it up later go by the same machine.
 *
 * published → received → started → returned | failed, or given up: timed_out | not_connected | key_not_accepted | unknown.
 */

export type JobState =
  /** Sent out; nothing has been heard of the minion. */
  | 'published'
  /** The minion has it; it waits for its turn there (`process_count_max`). */
  | 'received'
  /** It runs there. */
  | 'started'
  | 'returned'
  /** Returned, with an exit code other than 0 or without success. */
  | 'failed'
  /** The minion was working on it, and then answered no more. */
  | 'timed_out'
  | 'not_connected'
  | 'key_not_accepted'
  /** Nobody can tell: the minion is silent, or knows nothing of it, or there is no master to ask. */
  | 'unknown'

export interface JobStatus {
  readonly state: JobState
  /** A sentence or two: how it is known. */
  readonly why: string
  /** Of a minion that was given up: the same as people are told, after Salt's words, and what to do. */
  readonly advice?: string
}

/** Why a minion is given up. */
export type GivenUp =
  /** It has no accepted key. */
  | 'no-key'
  /** It did not answer `saltutil.find_job`. */
  | 'no-response'
  /** It did not answer, and a key of that name was denied. */
  | 'key-denied'
  /** It did not answer, and its connection to the publish port is lost. */
  | 'not-connected'
  /** It answered twice that it does not run the job, and has not returned. */
  | 'not-running'
  | 'not-stored'
  /** There was no master that could have asked it. */
  | 'master-gone'

/**
 * Milliseconds: the answer that a job does not run may overtake its return, which a Python minion sends from another
 * process. Who answers so is asked again after this.
 */
export const OVERTAKEN_MS = 500

export type JobSignal =
  /** The minion says that the job runs: by a receipt, a row, or when asked. */
  | { readonly type: 'started' }
  /** The minion says that the job waits for its turn. */
  | { readonly type: 'received' }
  | { readonly type: 'returned'; readonly success: boolean; readonly retcode: number }
  | { readonly type: 'given-up'; readonly why: GivenUp; readonly id: string; readonly jid: string }

const RETURNED: readonly JobState[] = ['returned', 'failed']
const UNDER_WAY: readonly JobState[] = ['published', 'received', 'started']

/** The status of a job that was just published to a minion. */
export const published: JobStatus = {
  state: 'published',
  why: 'It was published; nothing has been heard of the minion yet.',
}

/** More may be heard of it, and somebody waits for that. */
export const isUnderWay = ({ state }: JobStatus): boolean => UNDER_WAY.includes(state)

/** For people, whether the minion may still return or not. */
export function sentenceOf(status: JobStatus): string {
  const { state, why, advice } = status
  if (advice) return advice
  return isUnderWay(status) ? `Minion did not return so far.\nState: ${state}. ${why}` : why
}

/** The status after a signal. A return is final for ever; what was given up is changed by a return only. */
export function advance(status: JobStatus, signal: JobSignal): JobStatus {
  if (RETURNED.includes(status.state)) return status
  if (signal.type === 'returned') return afterReturn(signal)
  if (!isUnderWay(status)) return status
  if (signal.type === 'given-up') return givenUp(status, signal)
  if (signal.type === 'started') return started
  return status.state === 'started' ? status : received
}

const received: JobStatus = {
  state: 'received',
  why: 'The minion has it; it waits for its turn there (process_count_max).',
}
const started: JobStatus = { state: 'started', why: 'It runs there.' }

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
  return isSilent && before !== 'published' ? 'timed_out' : 'unknown'
}

/** The first three are Salt's, which scripts look for. */
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
    'It did not answer when it was asked about the job, and a host of that name with another key than the accepted one was denied.',
  'not-connected': 'It was connected to this master, and is no longer.',
  'not-running': 'It answers that it does not run the job, and no return of it is known.',
  'not-stored': 'Its return came, and the master could not store it.',
  'no-key': 'The master has no accepted key of that name.',
  'master-gone': 'The master went away while the job ran.',
}

const LAST_HEARD: Partial<Record<JobState, string>> = {
  received: ' When it was last heard of, the job waited for its turn there.',
  started: ' When it was last heard of, the job was running there.',
}

const lookUp = (jid: string) => [
  `The job may still finish there. Look it up later: salt-run jobs.lookup_jid ${jid} missing=True`,
]

const HINTS: Record<GivenUp, (jid: string, id: string) => readonly string[]> = {
  'no-response': (jid) => [
    'It may be down, cut off or overloaded: see whether salt-minion runs there, and its log.',
    ...lookUp(jid),
  ],
  'key-denied': (_, id) => [
    `Either it is down, or it has got a new key, or another host uses its id: compare the fingerprints (salt-key -f ${id}).`,
    `A new key is accepted with salt-key -a ${id} --include-denied.`,
  ],
  'not-connected': (jid) => [
    'See whether the host is up, salt-minion runs there, and both ports of the master are reached from it.',
    ...lookUp(jid),
  ],
  'not-running': () => [
    'It never got the job, or the job was killed there, or the minion was restarted meanwhile: see its log,',
    'then run the job again if that does no harm.',
  ],
  'not-stored': (jid) => [
    'See the log of the master: its disk may be full. The minion sends the return again until it is stored.',
    `Look it up later: salt-run jobs.lookup_jid ${jid} missing=True`,
  ],
  'no-key': () => ['See salt-key -L: a key that waits there is accepted with salt-key -a.'],
  'master-gone': (jid) => ['See whether salt-master runs, and its log.', ...lookUp(jid)],
}
