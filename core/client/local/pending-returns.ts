import { isRecord } from '../../base/record.ts'
import { type Event, tags } from '../../events/index.ts'
import {
  type GivenUp,
  type JobSignal,
  type JobState,
  type JobStatus,
  nextStatus,
  PUBLISHED_STATUS,
} from '../../jobs/job-states.ts'
import { jobStatusOf } from '../../wire/job-status.ts'
import type { DeliveryState, NotDelivered } from '../../wire/take-job.ts'
import {
  hasReturned,
  type JobCounts,
  type MinionResult,
  type ProgressRow,
  type PublishedJob,
} from './contract.ts'

/** Stands for all syndics of Python Salt: they may not say for whom they speak. */
const SILENT = ''

/** How long minions are awaited that were not connected at publication: the list of connected minions may be a moment old. */
const COMING_MS = 2_000

/** Tracks the state of each minion of one job while its returns come in (wire protocol §13.3). */
export class PendingReturns {
  readonly job: PublishedJob
  /** Prefixes of the job's tags, built once: there may be a hundred thousand events. */
  readonly #tags: Readonly<Record<'rows' | 'start' | 'return' | 'syndic' | DeliveryState, string>>
  readonly #statuses = new Map<string, JobStatus>()
  /** When each awaited minion is asked whether it still runs the job, in milliseconds since 1970. */
  readonly #deadlines = new Map<string, number>()
  /** A lower bound of the deadlines. */
  #earliest = Number.POSITIVE_INFINITY
  /** Minions that had just lost their connection and have not been asked since; they count while they are silent. */
  readonly #reconnecting = new Set<string>()
  /** Members of `job.minions` that the target may not match: the master lacks their grains or pillar. */
  readonly #perhaps: Set<string>
  /** When each syndic must have said for which minions it speaks; under {@link SILENT} when those of Python Salt have. */
  readonly #syndics = new Map<string, number>()
  #gaveUpSyndic = false

  constructor(
    job: PublishedJob,
    deadline: number,
    { syndicWaitMs = 0 }: { readonly syndicWaitMs?: number } = {},
  ) {
    this.job = job
    const { jid, syndics } = job
    for (const id of syndics?.reporting ?? []) this.#syndics.set(id, deadline)
    for (const id of syndics?.away ?? []) this.#syndics.set(id, 0)
    if (syndics && syndics.silent.length > 0) this.#syndics.set(SILENT, Date.now() + syndicWaitMs)
    this.#tags = {
      rows: tags.jobRows(jid),
      start: tags.jobStart(jid, ''),
      return: tags.jobReturn(jid, ''),
      syndic: tags.jobSyndic(jid, ''),
      delivered: tags.jobDelivery(jid, 'delivered', ''),
      expired: tags.jobDelivery(jid, 'expired', ''),
      cancelled: tags.jobDelivery(jid, 'cancelled', ''),
    }
    this.#perhaps = new Set(job.unknown)
    this.#expect(job.minions, deadline)
    this.noteWaiting(job.delivery?.waiting ?? [], Math.min(deadline, Date.now() + COMING_MS))
    for (const id of job.missing) this.#statuses.set(id, withoutKey(job, id))
  }

  /** Process an event of this job; return its result if that is new. A minion that was given up may still return. */
  accept(event: Event, deadline: number): MinionResult | undefined {
    const { tag, data } = event
    if (Array.isArray(data.minions) && tag === tags.jobNew(this.job.jid)) this.#expect(data.minions, deadline)
    const { id } = data
    if (typeof id !== 'string') return undefined
    if (isJoined(tag, this.#tags.syndic, id)) this.#takeReport(id, data, deadline)
    if (isJoined(tag, this.#tags.start, id)) this.#noteTaken(id, 'started', deadline)
    if (isJoined(tag, this.#tags.delivered, id)) this.#noteTaken(id, 'delivered', deadline)
    if (isJoined(tag, this.#tags.expired, id)) this.#noteEnded(id, 'expired')
    if (isJoined(tag, this.#tags.cancelled, id)) this.#noteEnded(id, 'cancelled')
    if (!isJoined(tag, this.#tags.return, id)) return undefined
    const result = resultOf(id, data)
    return this.noteReturned(result) ? result : undefined
  }

  /** Return the row in an event of this job; undefined if there is none or its minion has returned. */
  progressRow({ tag, data }: Event): ProgressRow | undefined {
    if (!tag.startsWith(this.#tags.rows)) return undefined
    const { id } = data
    if (typeof id !== 'string' || this.#hasReturned(id)) return undefined
    const number = Number(tag.slice(tags.jobProgress(this.job.jid, id, '').length))
    if (tag !== tags.jobProgress(this.job.jid, id, number)) return undefined
    this.noteAlive(id, 'started')
    const payload = isRecord(data.data) ? data.data : data
    return { id, state: 'progress', number, row: payload.return }
  }

  /** Note that a minion has taken or queued the job, or runs it, which proves that the target matches it. */
  noteAlive(id: string, type: 'started' | 'received' | 'delivered'): void {
    this.#perhaps.delete(id)
    this.#advance(id, { type })
  }

  /** Note that minions are away and get the job when they come. They are awaited until `deadline`, if there is one. */
  noteWaiting(ids: readonly string[], deadline?: number): void {
    const { jid, delivery } = this.job
    const untilMs = delivery?.until.getTime() ?? 0
    for (const id of ids) {
      this.#advance(id, { type: 'waiting', untilMs, jid })
      if (deadline === undefined) this.#deadlines.delete(id)
      else this.#await(id, deadline)
    }
  }

  /** Note that a minion has the job. One that was away is awaited from now on. */
  #noteTaken(id: string, type: 'started' | 'delivered', deadline: number): void {
    const wasWaiting = this.#statuses.get(id)?.state === 'waiting'
    this.noteAlive(id, type)
    if (wasWaiting) this.#await(id, deadline)
  }

  /** Note that a minion does not get the job any more. */
  #noteEnded(id: string, type: NotDelivered): void {
    this.#advance(id, { type })
    this.#deadlines.delete(id)
  }

  #await(id: string, deadline: number): void {
    this.#earliest = Math.min(this.#earliest, deadline)
    this.#deadlines.set(id, deadline)
  }

  /** Note that silent minions have just lost their connection to the master, and reconnect. */
  noteReconnecting(ids: readonly string[]): void {
    for (const id of ids) this.#reconnecting.add(id)
  }

  /** Note that minions were asked whether the job runs there: they are not awaited back any more. */
  noteAsked(ids: readonly string[]): void {
    for (const id of ids) this.#reconnecting.delete(id)
  }

  /** Note that a minion has returned; false if that was known. */
  noteReturned(result: MinionResult): boolean {
    const { id } = result
    if (!hasReturned(result) || this.#hasReturned(id)) return false
    this.#statuses.set(id, statusOf(result))
    this.#deadlines.delete(id)
    return true
  }

  /** Expect the minions that a syndic speaks for. One that awaits others in turn is awaited anew. */
  #takeReport(syndic: string, { minions, unknown, waiting, awaits }: Event['data'], deadline: number): void {
    if (Array.isArray(unknown)) for (const id of unknown) this.#perhaps.add(id)
    if (Array.isArray(minions)) this.#expect(minions, deadline)
    if (Array.isArray(waiting)) this.noteWaiting(waiting, Math.min(deadline, Date.now() + COMING_MS))
    if (Array.isArray(awaits) && awaits.length > 0) this.#syndics.set(syndic, deadline)
    else this.#syndics.delete(syndic)
  }

  /** Give up syndics that have not said for which minions they speak, and return their ids. */
  giveUpSyndics(now: number): string[] {
    const late = Array.from(this.#syndics).filter(([, deadline]) => deadline <= now)
    for (const [id] of late) this.#syndics.delete(id)
    this.#gaveUpSyndic ||= late.some(([id]) => id !== SILENT)
    return late.map(([id]) => id).filter((id) => id !== SILENT)
  }

  /** Add minions that the job, a syndic or a late answer names. */
  #expect(minions: readonly unknown[], deadline: number): void {
    for (const id of minions) {
      if (typeof id !== 'string') continue
      const known = this.#statuses.get(id)
      if (known && known.state !== 'key_not_accepted') continue
      this.#statuses.set(id, PUBLISHED_STATUS)
      this.#await(id, deadline)
    }
  }

  #hasReturned(id: string): boolean {
    const state = this.#statuses.get(id)?.state
    return state === 'returned' || state === 'failed'
  }

  #advance(id: string, signal: JobSignal): void {
    const status = this.#statuses.get(id)
    if (status) this.#statuses.set(id, nextStatus(status, signal))
  }

  /** Whether no minion is awaited any more. */
  get complete(): boolean {
    return this.#deadlines.size === 0 && this.#syndics.size === 0
  }

  /** Whether all syndics have spoken, and the job has no minion at all. */
  get isOfNobody(): boolean {
    const { syndics } = this.job
    return (
      this.#statuses.size === 0 && syndics !== undefined && syndics.away.length === 0 && !this.#gaveUpSyndic
    )
  }

  silent(): string[] {
    return [...this.#deadlines.keys()]
  }

  /** Return all minions that have not returned, whether they are still awaited or not. */
  missing(): string[] {
    return [...this.#statuses.keys()].filter((id) => !this.#hasReturned(id))
  }

  /** Return the status of one of the job's minions. */
  status(id: string): JobStatus {
    return this.#statuses.get(id) ?? PUBLISHED_STATUS
  }

  counts(): JobCounts {
    const expected = this.#statuses.size
    const reconnecting = [...this.#reconnecting].filter((id) => this.status(id).state === 'published').length
    const counts = { expected, returned: 0, running: 0, silent: 0, reconnecting, waiting: 0, missing: 0 }
    for (const { state } of this.#statuses.values()) counts[COUNTED_AS[state]]++
    return counts
  }

  /** Move the deadline of those that are still awaited. */
  extend(ids: Iterable<string>, deadline: number): void {
    for (const id of ids) if (this.#deadlines.has(id)) this.#deadlines.set(id, deadline)
  }

  /** Whether it is not known if the target matches a minion. */
  isUnknown(id: string): boolean {
    return this.#perhaps.has(id)
  }

  /** Return the minions whose deadline has passed. Those that are away are not awaited any more. */
  overdue(now: number): string[] {
    const late = this.silent().filter((id) => (this.#deadlines.get(id) ?? 0) <= now)
    const isAway = (id: string) => this.status(id).state === 'waiting'
    for (const id of late.filter(isAway)) this.#deadlines.delete(id)
    return late.filter((id) => !isAway(id))
  }

  /** Return the next time at which a minion may be overdue. Deadlines are only searched when that time has come. */
  nextDeadline(now: number = Date.now()): number {
    return Math.min(this.#nextOfMinions(now), ...this.#syndics.values())
  }

  #nextOfMinions(now: number): number {
    if (this.#earliest > now) return this.#earliest
    this.#earliest = Number.POSITIVE_INFINITY
    for (const deadline of this.#deadlines.values()) this.#earliest = Math.min(this.#earliest, deadline)
    return this.#earliest
  }

  giveUp(ids: Iterable<string>, why: GivenUp): void {
    for (const id of ids) {
      if (!this.#deadlines.delete(id)) continue
      this.#advance(id, { type: 'given-up', why, id, jid: this.job.jid })
    }
  }
}

const COUNTED_AS: Record<JobState, Exclude<keyof JobCounts, 'expected' | 'reconnecting'>> = {
  published: 'silent',
  waiting: 'waiting',
  delivered: 'running',
  received: 'running',
  started: 'running',
  returned: 'returned',
  failed: 'returned',
  timed_out: 'missing',
  not_connected: 'missing',
  key_not_accepted: 'missing',
  expired: 'missing',
  cancelled: 'missing',
  unknown: 'missing',
}

/** Whether the text is `begin` followed by `end`, without building a string. */
const isJoined = (text: string, begin: string, end: string): boolean =>
  text.length === begin.length + end.length && text.startsWith(begin) && text.endsWith(end)

const withoutKey = ({ jid }: PublishedJob, id: string) =>
  nextStatus(PUBLISHED_STATUS, { type: 'given-up', why: 'no-key', id, jid })

const statusOf = ({ success, retcode }: { readonly success: boolean; readonly retcode: number }) =>
  nextStatus(PUBLISHED_STATUS, { type: 'returned', success, retcode })

export function resultOf(id: string, data: Readonly<Record<string, unknown>>): MinionResult {
  const { jid, fun, out, metadata } = data
  const end = jobStatusOf(data)
  const { state, why } = statusOf(end)
  return {
    id,
    ...(state === 'failed' ? { state, jobState: state } : { state: 'returned', jobState: 'returned' }),
    why,
    return: data.return,
    ...end,
    ...(typeof out === 'string' && { out }),
    jid: String(jid),
    fun: fun as string | string[],
    ...(Array.isArray(data.fun_args) && { fun_args: data.fun_args }),
    ...(isRecord(metadata) && { metadata }),
  }
}
