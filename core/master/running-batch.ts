import { tags } from '../events/index.ts'
import { mayFail, minionsAtOnce } from '../jobs/batch-size.ts'
import { BatchWindow } from '../jobs/batch-window.ts'
import type { BatchOrder, StoredBatch } from '../jobs/batches.ts'
import { OVERTAKEN_MS } from '../jobs/job-states.ts'
import { isRecord } from '../wire/bytes.ts'
import { endOf } from '../wire/return-end.ts'
import { readJobWords } from '../wire/typed-words.ts'
import { BatchMembers } from './batch-members.ts'
import { type Issue, publishIssue, storeIssue } from './issue.ts'
import type { WorkerRoom } from './room.ts'

export type BatchRoom = Pick<
  WorkerRoom,
  'config' | 'fire' | 'jobs' | 'log' | 'meter' | 'minions' | 'nextJid' | 'publish' | 'tracer'
>

/** Minions need up to `recon_max`, 10 s by default, to find back to a master that was away. */
const RETURN_TO_MASTER_MS = 15_000
/** How often it is looked for late answers to the ping. */
const LATE_MS = 2_000

/** What silent minions of a wave were asked: whether they still work on it. */
interface Question {
  readonly jid: string
  readonly until: number
  readonly ids: Set<string>
}

/**
 * One batch of this master, looked after in steps. Everything it goes by is in the job cache: what is pending, running
 * and done, and the returns, so that nothing can be missed and a restart finds all as it was. A minion is noted down as
 * running, with the jid of its wave, before that is published; nobody is ever sent a second one.
 */
export class RunningBatch {
  readonly #room: BatchRoom
  readonly #jid: string
  readonly #order: BatchOrder
  readonly #members: BatchMembers
  /** Who ran when the master was restarted: the wave may not have gone out. */
  readonly #unsure: Set<string>
  /** Who has answered once that its wave does not run there. */
  readonly #saidNo = new Set<string>()
  readonly #deadlines = new Map<string, number>()
  #begun: StoredBatch['begun']
  #window: BatchWindow | undefined
  #ping: { readonly jid: string; readonly until: number } | undefined
  #questions: Question[] = []
  #lookedForLate = 0

  constructor(room: BatchRoom, { jid, order, begun, members }: StoredBatch, now: number) {
    this.#room = room
    this.#jid = jid
    this.#order = order
    this.#begun = begun
    this.#members = new BatchMembers(members)
    this.#unsure = new Set(this.#members.in('running'))
    const patience = Math.max(order.timeoutMs, RETURN_TO_MASTER_MS)
    for (const id of this.#unsure) this.#deadlines.set(id, now + patience)
    if (begun) this.#window = this.#openWindow(begun, now)
  }

  /** Do what is to be done now. True when the batch is over. Whoever rejects is to be read from the store again. */
  async step(now: number): Promise<boolean> {
    if (!this.#window) await this.#pingAll(now)
    const window = this.#window
    if (!window) return false
    const { batches } = this.#room.jobs
    const stopped = batches.stopped(this.#jid)
    if (stopped !== undefined) window.halt(stopped)
    this.#welcomeLate(window, now)
    this.#takeReturns(window, now)
    const unsent = this.#conclude(window, now)
    const { halted } = window
    if (halted !== undefined && stopped === undefined) await batches.stop(this.#jid, halted)
    await this.#save()
    await this.#sendAgain(halted === undefined ? unsent : [], now)
    await this.#ask(now)
    const next = window.next(now)
    if (next.length > 0) await this.#startWave(next, now)
    if (!window.over) return false
    await this.#finish(window.halted)
    return true
  }

  /** Until all have answered, or their time is over. After a restart it begins anew. */
  async #pingAll(now: number): Promise<void> {
    if (!this.#ping) {
      const issue = this.#issue(this.#members.in('down'), {
        fun: 'test.ping',
        arg: [],
        shownArg: [],
        ret: '',
      })
      const jid = this.#room.nextJid()
      const metadata = { ...this.#metadata().metadata, ping_jid: jid }
      const ping = { ...issue, words: undefined, extras: { metadata } }
      if (!(await storeIssue(this.#room, ping, jid))) return
      await this.#publish(jid, ping)
      this.#ping = { jid, until: now + this.#order.pingMs }
    }
    const { jid, until } = this.#ping
    const down = this.#members.in('down')
    const available = down.filter((id) => this.#room.jobs.return(jid, id))
    if (available.length < down.length && now < until) return
    await this.#begin(jid, available, now)
  }

  async #begin(ping: string, available: readonly string[], now: number): Promise<void> {
    const { size, mayFail: limit } = this.#order
    const slots = minionsAtOnce(size, available.length)
    const begun = { ping, slots, ...(limit && { mayFail: mayFail(limit, available.length) }) }
    this.#members.stored(available, { state: 'queued' })
    await this.#room.fire(tags.batchStart(this.#jid), {
      available_minions: available,
      down_minions: this.#members.in('down'),
      ...this.#metadata(),
    })
    await this.#room.jobs.batches.begin(this.#jid, begun, available)
    this.#begun = begun
    this.#window = this.#openWindow(begun, now)
  }

  #openWindow(
    { slots, mayFail = Number.POSITIVE_INFINITY }: NonNullable<StoredBatch['begun']>,
    now: number,
  ): BatchWindow {
    const { waitMs, failhard } = this.#order
    const window = new BatchWindow({ size: slots, waitMs, failhard, mayFail })
    window.resume(
      this.#members.in('running'),
      this.#members.in('failed').length + this.#members.in('gone').length,
      now,
    )
    window.join(this.#members.in('queued'))
    return window
  }

  #welcomeLate(window: BatchWindow, now: number): void {
    const ping = this.#begun?.ping
    if (ping === undefined || now - this.#lookedForLate < LATE_MS) return
    this.#lookedForLate = now
    const late = this.#members.in('down').filter((id) => this.#room.jobs.return(ping, id))
    for (const id of late) this.#members.set(id, { state: 'queued' })
    window.join(late)
  }

  #takeReturns(window: BatchWindow, now: number): void {
    for (const id of [...window.running.keys()]) {
      const wave = this.#members.wave(id)
      const ret = wave === undefined ? undefined : this.#room.jobs.return(wave, id)
      if (ret) this.#done(window, id, endStateOf(ret), now)
    }
  }

  #done(window: BatchWindow, id: string, state: 'done' | 'failed' | 'gone', now: number): void {
    const wave = this.#members.wave(id)
    this.#members.set(id, { state, ...(wave !== undefined && { wave }) })
    this.#deadlines.delete(id)
    window.finished(id, state === 'done', now)
  }

  /**
   * Take the answers of minions that were asked. Who says twice that the job does not run, or nothing, is given up, but
   * after a restart a minion that remembers on disk what it has accepted is sent its wave again, unless the batch was
   * stopped: gives those.
   */
  #conclude(window: BatchWindow, now: number): string[] {
    const unsent: string[] = []
    for (const { jid, until, ids } of this.#questions) {
      for (const id of [...ids]) {
        const answer = this.#room.jobs.return(jid, id)
        const isSilent = !answer && now < until
        if (window.running.has(id) && isSilent) continue
        ids.delete(id)
        if (!window.running.has(id)) continue
        if (isRecord(answer?.return) && Object.keys(answer.return).length > 0)
          this.#deadlines.set(id, now + this.#order.timeoutMs)
        else if (this.#unsure.delete(id) && window.halted === undefined && this.#remembers(id))
          unsent.push(id)
        else if (answer && !this.#saidNo.has(id)) {
          this.#saidNo.add(id)
          this.#deadlines.set(id, now + OVERTAKEN_MS)
        } else this.#done(window, id, 'gone', now)
      }
    }
    this.#questions = this.#questions.filter(({ ids }) => ids.size > 0)
    return unsent
  }

  /** Minions of salt-ts keep the jids they have accepted on disk; those of Python Salt in memory, and only some. */
  #remembers(id: string): boolean {
    const grains = this.#room.minions.grains(id)
    return grains !== undefined && grains.pythonversion === undefined
  }

  /** Under the same jid: who has run it, or runs it, drops it. */
  async #sendAgain(ids: readonly string[], now: number): Promise<void> {
    for (const [wave, minions] of this.#members.byWave(ids)) {
      for (const id of minions) this.#deadlines.set(id, now + this.#order.timeoutMs)
      await publishIssue(this.#room, wave, this.#issue(minions))
    }
  }

  async #ask(now: number): Promise<void> {
    const asked = new Set(this.#questions.flatMap(({ ids }) => [...ids]))
    const overdue = [...this.#deadlines].filter(([id, deadline]) => deadline <= now && !asked.has(id))
    for (const [wave, ids] of this.#members.byWave(overdue.map(([id]) => id))) {
      const call = { fun: 'saltutil.find_job', arg: [wave], shownArg: [wave], ret: '' }
      const issue = { ...this.#issue(ids, call), words: undefined, extras: {} }
      const jid = await storeIssue(this.#room, issue)
      if (!jid) continue
      await this.#publish(jid, issue)
      this.#questions.push({ jid, until: now + this.#order.gatherMs, ids: new Set(ids) })
    }
  }

  async #startWave(ids: readonly string[], now: number): Promise<void> {
    const issue = this.#issue(ids)
    const wave = await storeIssue(this.#room, issue)
    if (wave === undefined) throw new Error('no job id was free')
    for (const id of ids) {
      this.#members.set(id, { state: 'running', wave })
      this.#deadlines.set(id, now + this.#order.timeoutMs)
    }
    await this.#save()
    await this.#publish(wave, issue)
  }

  async #publish(jid: string, issue: Issue): Promise<void> {
    const { fun, minions } = issue
    const about = { part: 'publish', under: 'nothing', jid, fun, minions: minions.length } as const
    this.#room.tracer?.note({ ...about, start: Date.now() })
    await publishIssue(this.#room, jid, issue)
  }

  async #finish(halted: string | undefined): Promise<void> {
    for (const id of this.#members.in('gone')) {
      const wave = this.#members.wave(id)
      const late = wave !== undefined && this.#room.jobs.return(wave, id)
      if (late) this.#members.set(id, { state: endStateOf(late), wave })
    }
    await this.#save()
    const down = this.#members.in('down')
    await this.#room.fire(tags.batchDone(this.#jid), {
      available_minions: this.#members.present(),
      down_minions: down,
      done_minions: [...this.#members.in('done'), ...this.#members.in('failed')],
      timedout_minions: this.#members.in('gone'),
      ...(halted !== undefined && { stopped: halted, pending_minions: this.#members.in('queued') }),
      ...this.#metadata(),
    })
    await this.#room.jobs.batches.finish(this.#jid, halted)
    this.#room.log.info(`Batch ${this.#jid} is done. ${halted ?? ''}`.trim())
  }

  /** The job for some of its minions, or another that it needs. */
  #issue(ids: readonly string[], call: Partial<Issue> = {}): Issue {
    const { fun, arg, shownArg, user, owner, ret, extras } = this.#order
    return {
      ...{ fun, arg, shownArg, user, owner, ret, words: readJobWords(this.#order.words) },
      extras: { ...extras, ...this.#metadata() },
      ...{ tgt: [...ids], tgtType: 'list', minions: ids, missing: [] },
      ...call,
    }
  }

  #metadata() {
    return { metadata: { ...this.#order.metadata, batch_jid: this.#jid } }
  }

  #save(): Promise<void> {
    return this.#members.save(this.#room.jobs.batches, this.#jid)
  }
}

function endStateOf(ret: Readonly<Record<string, unknown>>): 'done' | 'failed' {
  const { retcode, success } = endOf(ret)
  return success && retcode === 0 ? 'done' : 'failed'
}
