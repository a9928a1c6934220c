import type { Log } from '../author/context.ts'
import { SaltError } from '../base/errors.ts'
import type { Turns } from '../base/turns.ts'
import { type Event, tags } from '../events/index.ts'
import { type GivenUp, OVERTAKEN_MS, sentenceOf } from '../jobs/job-states.ts'
import { isRecord } from '../wire/bytes.ts'
import type { MinionResult, ProgressRow, PublishedJob } from './contract.ts'
import type { JobEvents } from './job-events.ts'
import type { MasterRecords } from './master-records.ts'
import { UNKNOWN, wholeResult } from './missing.ts'
import type { Waiting } from './return-stream.ts'
import { type Turn, takeTurn } from './turn.ts'

export interface CollectSettings {
  /** The job, just published. */
  readonly waiting: Waiting
  /** Of the job, from before it was published. */
  readonly events: JobEvents
  /** Seconds. */
  readonly timeout: number
  readonly gatherJobTimeout: number
  findJob(jid: string, minions: readonly string[]): Promise<PublishedJob>
  /** Shared by those who ask that over the same link. */
  readonly turns: Turns
  readonly records: MasterRecords
  readonly log?: Log | undefined
}

/** What silent minions were asked: whether they still work on the job. */
interface Question {
  readonly jid: string
  readonly until: number
  readonly unanswered: Set<string>
  /** Who said no. */
  readonly idle: Set<string>
}

const seconds = (count: number) => count * 1000

/** Minions need up to `recon_max`, 10 s by default, to find back to a master that was away; before, asking is idle. */
const RETURN_TO_MASTER_MS = 15_000
/** So long questions may fail, as when the master is away, before the minions are given up. */
const PATIENCE_MS = 60_000

/** The results without the rows that come before them. */
export async function* collect(settings: CollectSettings): AsyncGenerator<MinionResult> {
  for await (const told of follow(settings)) if (told.state !== 'progress') yield told
}

/**
 * Rows and results of a job as they come (wire protocol §13.3): minions that are silent for `timeout` are asked with
 * `saltutil.find_job` whether they still work on it; each that does gets another `timeout`, who says twice that it does
 * not and who says nothing is given up.
 * Who has not returned when nobody is waited for any more is missing. Where events were missed, because the master
 * was restarted or this program was too slow, the job cache tells what they told.
 */
export async function* follow(settings: CollectSettings): AsyncGenerator<MinionResult | ProgressRow> {
  const { waiting, events, records, log } = settings
  const { jid } = waiting.job
  const ofJob = tags.job(jid)
  const [timeout, gather] = [seconds(settings.timeout), seconds(settings.gatherJobTimeout)]
  let question: Question | undefined
  let turn: Turn | undefined
  const saidNo = new Set<string>()
  /** Whose returns the master could not store. */
  const unstored = new Set<string>()
  let failingSince: number | undefined
  const until = Date.now() + timeout
  log?.debug('get_iter_returns for jid {jid} sent to {minions} will timeout at {until}', {
    ...{ jid, minions: waiting.job.minions },
    until: new Date(until),
  })
  try {
    for (const id of waiting.job.missing) yield missing(id)
    while (!waiting.complete) {
      const news = await events.next(question?.until ?? (turn ? turn.until() : waiting.nextDeadline()))
      if (news === 'end') break
      if (news === 'missed') {
        yield* stored(waiting.missing())
        waiting.extend(waiting.silent(), Date.now() + Math.max(timeout, RETURN_TO_MASTER_MS))
        question = settled(question)
      } else if (news !== 'late') {
        const told = take(news)
        if (told) yield told.state === 'progress' ? told : await wholeResult(records, told)
        if (question?.unanswered.size === 0) question = yield* conclude(question)
      } else question = question ? yield* conclude(question) : await askInTurn()
    }
    logEnd()
    yield* theMissing()
  } finally {
    turn?.leave()
    events.close()
  }

  function take({ tag, data }: Event): MinionResult | ProgressRow | undefined {
    if (tag === tags.jobError(jid) && typeof data.id === 'string') {
      unstored.add(data.id)
      waiting.extend([data.id], Date.now() + timeout) // it is tried again
    }
    if (tag.startsWith(ofJob)) {
      const row = waiting.row({ tag, data })
      if (row) waiting.extend([row.id], Date.now() + timeout) // it says itself that it still works
      const result = waiting.accept({ tag, data }, Date.now() + timeout)
      if (result) {
        log?.debug('jid {jid} return from {id}', { jid, id: result.id })
        question?.unanswered.delete(result.id)
      }
      return row ?? result
    }
    const { id } = data
    if (!question || typeof id !== 'string' || tag !== tags.jobReturn(question.jid, id)) return undefined
    if (isRecord(data.return) && Object.keys(data.return).length > 0) {
      waiting.heard(id, data.return.state === 'queued' ? 'received' : 'started')
      waiting.extend([id], Date.now() + timeout)
    } else question.idle.add(id)
    question.unanswered.delete(id)
    return undefined
  }

  /** Results are taken meanwhile: who returns before it is asked about is not asked. */
  async function askInTurn(): Promise<Question | undefined> {
    if (waiting.overdue(Date.now()).length > 0) {
      turn ??= takeTurn(settings.turns, () => events.interrupt())
      if (!turn.isMine) return undefined
    }
    try {
      return await ask()
    } finally {
      turn?.leave()
      turn = undefined
    }
  }

  async function ask(): Promise<Question | undefined> {
    const late = waiting.overdue(Date.now())
    waiting.giveUp(
      late.filter((id) => unstored.has(id)),
      'not-stored',
    )
    const overdue = late.filter((id) => !unstored.has(id))
    if (!overdue.length) return undefined
    log?.debug('Checking whether jid {jid} is still running', { jid, minions: overdue })
    try {
      const asked = await events.hearOf(() => settings.findJob(jid, overdue))
      failingSince = undefined
      waiting.giveUp(asked.missing, 'no-key')
      const unanswered = new Set(overdue.filter((id) => !asked.missing.includes(id)))
      return { jid: asked.jid, until: Date.now() + gather, unanswered, idle: new Set() }
    } catch (error) {
      const code = SaltError.is(error) ? error.code : undefined
      if (code === 'NO_MINIONS_MATCHED') waiting.giveUp(overdue, 'no-key')
      else stayPatient(overdue, code === 'MASTER_UNREACHABLE' ? 'master-gone' : 'no-response')
      return undefined
    }
  }

  /** Nobody can be asked without a master, or with the key of the master before it: what is wrong may pass. */
  function stayPatient(overdue: readonly string[], why: GivenUp): void {
    failingSince ??= Date.now()
    if (Date.now() - failingSince < PATIENCE_MS) waiting.extend(overdue, Date.now() + gather)
    else waiting.giveUp(overdue, why)
  }

  /** Who did not say that the job still runs is given up, unless its return is in the job cache after all. */
  async function* conclude(asked: Question): AsyncGenerator<MinionResult, undefined> {
    const { unanswered, idle } = asked
    yield* stored([...unanswered, ...idle])
    waiting.giveUp(
      [...idle].filter((id) => saidNo.has(id)),
      'not-running',
    )
    waiting.extend(idle, Date.now() + OVERTAKEN_MS)
    for (const id of idle) saidNo.add(id)
    if (unanswered.size > 0) {
      const { denied, lost } = await records.silence(unanswered)
      waiting.giveUp(denied, 'key-denied')
      waiting.giveUp(lost, 'not-connected')
    }
    waiting.giveUp(unanswered, 'no-response')
    return settled(asked)
  }

  function settled(asked: Question | undefined): undefined {
    if (asked) events.forget(asked.jid)
  }

  async function* stored(ids: Iterable<string>): AsyncGenerator<MinionResult> {
    for await (const result of records.returns(jid, [...ids])) if (waiting.returned(result)) yield result
  }

  function logEnd(): void {
    const silent = waiting.missing()
    if (silent.length > 0) log?.info('jid {jid} minions {silent} did not return in time', { jid, silent })
    else log?.debug('jid {jid} found all minions {minions}', { jid, minions: waiting.job.minions })
  }

  function* theMissing(): Generator<MinionResult> {
    waiting.giveUp(waiting.silent(), 'master-gone')
    const told = new Set(waiting.job.missing)
    for (const id of waiting.missing()) if (!told.has(id)) yield missing(id)
  }

  function missing(id: string): MinionResult {
    const status = waiting.status(id)
    const { state: jobState, why } = status
    if (waiting.isUnknown(id)) return { id, state: 'unknown', jobState, why: UNKNOWN, reason: UNKNOWN, jid }
    return { id, state: 'missing', jobState, why, reason: sentenceOf(status), jid }
  }
}
