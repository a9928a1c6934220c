import type { Log } from '../../author/context.ts'
import { SaltError } from '../../base/errors.ts'
import { isRecord } from '../../base/record.ts'
import type { Semaphore } from '../../base/semaphore.ts'
import { type Event, isTrimmed, tags } from '../../events/index.ts'
import { ASK_AGAIN_MS, type GivenUp, RECONNECT_MS, sentenceOf } from '../../jobs/job-states.ts'
import { hasReturned, type MinionResult, type ProgressRow, type PublishedJob } from './contract.ts'
import { type QueuedFindJob, queueFindJob } from './find-job-queue.ts'
import type { JobEvents } from './job-events.ts'
import type { MasterRecords } from './master-records.ts'
import type { PendingReturns } from './pending-returns.ts'

export interface FollowSettings {
  /** The job, just published. */
  readonly pending: PendingReturns
  /** Events of the job, from before it was published. */
  readonly events: JobEvents
  /** Seconds without a report before silent minions are asked. */
  readonly timeout: number
  readonly gatherJobTimeout: number
  findJob(jid: string, minions: readonly string[]): Promise<PublishedJob>
  /** Shared by all waits over the same link. */
  readonly findJobSlots: Semaphore
  readonly records: MasterRecords
  readonly log?: Log | undefined
}

/** A `saltutil.find_job` that was sent to silent minions. */
interface Query {
  readonly jid: string
  readonly until: number
  readonly unanswered: Set<string>
  /** Minions that answered that the job does not run there. */
  readonly idle: Set<string>
}

/** How long queries may fail, for instance while the master is down, before the minions are given up. */
const MAX_FAILING_MS = 60_000

/** Message about a minion that did not return and that the target may not match. */
export const UNKNOWN_MATCH_TEXT =
  'It is not known whether the target matches this minion: the master has no grains or pillar of it, and it did not return'

/** Yield the results of a job, without progress rows. */
export async function* collectResults(settings: FollowSettings): AsyncGenerator<MinionResult> {
  for await (const news of followJob(settings)) if (news.state !== 'progress') yield news
}

/**
 * Yield rows and results of a job as they come (wire protocol §13.3). Minions that are silent for `timeout` are asked with
 * `saltutil.find_job` whether they still run it. A minion that does gets another `timeout`; a minion that answers twice that
 * it does not, or does not answer, is given up. Those that have just lost their connection get another `timeout` first.
 * Minions that have not returned at the end are missing. If events were missed, because the master was restarted or this
 * program was too slow, their results are read from the job cache.
 */
export const followJob = (settings: FollowSettings): AsyncGenerator<MinionResult | ProgressRow> =>
  new JobFollower(settings).follow()

/** Return the error for a target that selects nobody, on the master of masters and below its syndics. */
const nobodyError = ({ jid, syndics }: PublishedJob): SaltError =>
  new SaltError(
    'NO_MINIONS_MATCHED',
    `No minions matched the target, neither of this master nor below its syndics (${[...(syndics?.reporting ?? []), ...(syndics?.silent ?? [])].join(', ')}). Job ${jid} ran nowhere.`,
    { jid },
  )

class JobFollower {
  readonly #settings: FollowSettings
  readonly #pending: PendingReturns
  readonly #events: JobEvents
  readonly #jid: string
  readonly #timeoutMs: number
  #query: Query | undefined
  /** The place in the queue for the next query. */
  #turn: QueuedFindJob | undefined
  /** Minions that have answered once that the job does not run there. */
  readonly #saidNo = new Set<string>()
  /** Minions that were given time to reconnect to the master. */
  readonly #givenTime = new Set<string>()
  /** Minions whose returns the master could not store. */
  readonly #unstored = new Set<string>()
  /** Start of the period in which all queries have failed, in milliseconds since 1970. */
  #failingSince: number | undefined

  constructor(settings: FollowSettings) {
    this.#settings = settings
    this.#pending = settings.pending
    this.#events = settings.events
    this.#jid = settings.pending.job.jid
    this.#timeoutMs = settings.timeout * 1000
  }

  async *follow(): AsyncGenerator<MinionResult | ProgressRow> {
    this.#logStart()
    const ofJob = tags.job(this.#jid)
    try {
      if (!this.#pending.job.syndics) yield* this.#withoutKey()
      while (!this.#pending.complete) {
        const news = await this.#events.next(this.#nextMoment())
        if (news === 'end') break
        if (news === 'missed') yield* this.#readMissed()
        else if (news === 'late') yield* this.#queryOrConclude()
        else if (!news.tag.startsWith(ofJob)) this.#takeAnswer(news)
        else {
          const result = this.#takeNews(news)
          if (result) yield result.state === 'progress' ? result : await this.#whole(result)
        }
        yield* this.#lateSyndics()
        if (this.#query?.unanswered.size === 0) yield* this.#conclude(this.#query)
      }
      if (this.#pending.job.syndics) yield* this.#withoutKey()
      if (this.#pending.isOfNobody) throw nobodyError(this.#pending.job)
      yield* this.#stored(this.#pending.missing()) // one may have been stored since it was given up
      this.#logEnd()
      yield* this.#allMissing()
    } finally {
      this.#turn?.leave()
      this.#events.close()
    }
  }

  /** Yield ids of a list target that no master has accepted. With syndics that is known at the end. */
  *#withoutKey(): Generator<MinionResult> {
    for (const id of this.#pending.job.missing)
      if (this.#pending.status(id).state === 'key_not_accepted') yield this.#missing(id)
  }

  /** Yield syndics that do not say for which minions they speak, as missing: nobody knows who runs the job below them. */
  *#lateSyndics(): Generator<MinionResult> {
    const { jid, syndics } = this.#pending.job
    for (const id of this.#pending.giveUpSyndics(Date.now())) {
      const isAway = syndics?.away.includes(id)
      const why = isAway
        ? `The syndic ${id} is not connected: the minions below it did not get the job, unless it connects within a minute.`
        : `The syndic ${id} has not said which minions below it run the job.`
      const advice =
        'Check whether salt-syndic and salt-master are running on that host, and read their logs.'
      const reason = `Minion did not return. [${isAway ? 'Not connected' : 'No response'}]\nState: ${isAway ? 'not_connected' : 'unknown'}. ${why}\n${advice}`
      yield { id, state: 'missing', jobState: isAway ? 'not_connected' : 'unknown', why, reason, jid }
    }
  }

  #nextMoment(): number {
    return this.#query?.until ?? (this.#turn ? this.#turn.lookAgainAt() : this.#pending.nextDeadline())
  }

  /** Read returns whose events were missed from the job cache, and wait for the others anew. */
  async *#readMissed(): AsyncGenerator<MinionResult> {
    yield* this.#stored(this.#pending.missing())
    this.#pending.extend(this.#pending.silent(), Date.now() + Math.max(this.#timeoutMs, RECONNECT_MS))
    this.#endQuery()
  }

  async *#queryOrConclude(): AsyncGenerator<MinionResult> {
    if (this.#query) yield* this.#conclude(this.#query)
    else await this.#queryInTurn()
  }

  /** Process an event of the job: an error of the master, a row, or a return. */
  #takeNews(event: Event): MinionResult | ProgressRow | undefined {
    const { id } = event.data
    const deadline = Date.now() + this.#timeoutMs
    if (event.tag === tags.jobError(this.#jid) && typeof id === 'string') {
      this.#unstored.add(id)
      this.#pending.extend([id], deadline) // the minion sends it again
    }
    const row = this.#pending.progressRow(event)
    if (row) {
      this.#pending.extend([row.id], deadline) // the row shows that it still runs
      return row
    }
    const result = this.#pending.accept(event, deadline)
    if (result) {
      this.#settings.log?.debug('jid {jid} return from {id}', { jid: this.#jid, id: result.id })
      this.#query?.unanswered.delete(result.id)
    }
    return result
  }

  /** Process an answer to the query: the states of the job on a minion, or nothing if it does not run there. */
  #takeAnswer({ tag, data }: Event): void {
    const { id } = data
    const query = this.#query
    if (!query || typeof id !== 'string' || tag !== tags.jobReturn(query.jid, id)) return
    if (isRecord(data.return) && Object.keys(data.return).length > 0) {
      this.#pending.noteAlive(id, data.return.state === 'queued' ? 'received' : 'started')
      this.#pending.extend([id], Date.now() + this.#timeoutMs)
    } else query.idle.add(id)
    query.unanswered.delete(id)
  }

  /** Query once it is this wait's turn. Results are processed meanwhile: a minion that returns before is not asked. */
  async #queryInTurn(): Promise<void> {
    if (this.#pending.overdue(Date.now()).length > 0) {
      this.#turn ??= queueFindJob(this.#settings.findJobSlots, () => this.#events.interrupt())
      if (!this.#turn.isGranted) return
    }
    try {
      await this.#queryOverdue()
    } finally {
      this.#turn?.leave()
      this.#turn = undefined
    }
  }

  async #queryOverdue(): Promise<void> {
    const late = this.#pending.overdue(Date.now())
    this.#pending.giveUp(
      late.filter((id) => this.#unstored.has(id)),
      'not-stored',
    )
    let overdue = late.filter((id) => !this.#unstored.has(id))
    const { findJob, gatherJobTimeout, log } = this.#settings
    try {
      overdue = await this.#allButReconnecting(overdue)
      if (!overdue.length) return
      log?.debug('Checking whether jid {jid} is still running', { jid: this.#jid, minions: overdue })
      const { jid, missing } = await this.#events.publishAndListen(() => findJob(this.#jid, overdue))
      this.#failingSince = undefined
      this.#pending.noteAsked(overdue)
      this.#pending.giveUp(missing, 'no-key')
      const unanswered = new Set(overdue.filter((id) => !missing.includes(id)))
      this.#query = { jid, until: Date.now() + gatherJobTimeout * 1000, unanswered, idle: new Set() }
    } catch (error) {
      const code = SaltError.is(error) ? error.code : undefined
      if (code === 'NO_MINIONS_MATCHED') this.#pending.giveUp(overdue, 'no-key')
      else this.#noteFailedQuery(overdue, code === 'MASTER_UNREACHABLE' ? 'master-gone' : 'no-response')
    }
  }

  /**
   * Wait for another `timeout`, once, for those of these minions that have just lost their connection to the master: those of
   * salt-ts get the job that they have missed when they are back. Return the others.
   */
  async #allButReconnecting(overdue: readonly string[]): Promise<string[]> {
    const asked = overdue.filter((id) => !this.#givenTime.has(id))
    if (!asked.length) return [...overdue]
    const { reconnecting } = await this.#silence(new Set(asked))
    for (const id of reconnecting) this.#givenTime.add(id)
    this.#pending.noteReconnecting(reconnecting)
    this.#pending.extend(reconnecting, Date.now() + this.#timeoutMs)
    const back = new Set(reconnecting)
    return overdue.filter((id) => !back.has(id))
  }

  /** Return why minions are silent. Only of a job that waits for minions it is asked which ones do not have it yet. */
  #silence(ids: ReadonlySet<string>) {
    const { delivery } = this.#pending.job
    return this.#settings.records.silence(ids, delivery && this.#jid)
  }

  /** Extend the deadlines after a failed query: the master may be restarting. Give up when queries fail for too long. */
  #noteFailedQuery(overdue: readonly string[], why: GivenUp): void {
    const now = Date.now()
    this.#failingSince ??= now
    if (now - this.#failingSince >= MAX_FAILING_MS) this.#pending.giveUp(overdue, why)
    else this.#pending.extend(overdue, now + this.#settings.gatherJobTimeout * 1000)
  }

  /** Give up minions that did not answer that the job still runs, unless their return is in the job cache after all. */
  async *#conclude({ unanswered, idle }: Query): AsyncGenerator<MinionResult> {
    yield* this.#stored([...unanswered, ...idle])
    const without = [...idle].filter((id) => this.#saidNo.has(id))
    const givenUp = new Set([...unanswered, ...without])
    if (givenUp.size > 0) {
      const { denied, lost, waiting } = await this.#silence(givenUp)
      this.#pending.noteWaiting(waiting)
      this.#pending.giveUp(without, 'not-running')
      this.#pending.giveUp(denied, 'key-denied')
      this.#pending.giveUp(lost, 'not-connected')
    }
    this.#pending.extend(idle, Date.now() + ASK_AGAIN_MS)
    for (const id of idle) this.#saidNo.add(id)
    this.#pending.giveUp(unanswered, 'no-response')
    this.#endQuery()
  }

  #endQuery(): void {
    if (this.#query) this.#events.forget(this.#query.jid)
    this.#query = undefined
  }

  async *#stored(ids: Iterable<string>): AsyncGenerator<MinionResult> {
    for await (const result of this.#settings.records.returns(this.#jid, [...ids]))
      if (this.#pending.noteReturned(result)) yield result
  }

  /**
   * Return the whole result from the job cache if its event was trimmed (`max_event_size`). It stays trimmed, and is marked
   * so, if the user may not read the job cache or there is none, as on the host of a master of Python Salt.
   */
  async #whole(result: MinionResult): Promise<MinionResult> {
    if (!hasReturned(result) || !isTrimmed(result)) return result
    for await (const stored of this.#settings.records.returns(result.jid, [result.id])) return stored
    return { ...result, trimmed: true }
  }

  #logStart(): void {
    this.#settings.log?.debug('get_iter_returns for jid {jid} sent to {minions} will timeout at {until}', {
      jid: this.#jid,
      minions: this.#pending.job.minions,
      until: new Date(Date.now() + this.#timeoutMs),
    })
  }

  #logEnd(): void {
    const { log } = this.#settings
    const jid = this.#jid
    const silent = this.#pending.missing()
    if (silent.length > 0) log?.info('jid {jid} minions {silent} did not return in time', { jid, silent })
    else log?.debug('jid {jid} found all minions {minions}', { jid, minions: this.#pending.job.minions })
  }

  *#allMissing(): Generator<MinionResult> {
    this.#pending.giveUp(this.#pending.silent(), 'master-gone')
    const reported = new Set(this.#pending.job.missing)
    for (const id of this.#pending.missing())
      if (!reported.has(id) || this.#pending.status(id).state !== 'key_not_accepted') yield this.#missing(id)
  }

  #missing(id: string): MinionResult {
    const status = this.#pending.status(id)
    const { state: jobState, why } = status
    const jid = this.#jid
    if (this.#pending.isUnknown(id))
      return { id, state: 'unknown', jobState, why: UNKNOWN_MATCH_TEXT, reason: UNKNOWN_MATCH_TEXT, jid }
    const state = jobState === 'waiting' ? 'waiting' : 'missing'
    return { id, state, jobState, why, reason: sentenceOf(status), jid }
  }
}
