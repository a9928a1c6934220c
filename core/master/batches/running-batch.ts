import { isRecord } from '../../base/record.ts'
import { arePythonGrains } from '../../cache/minion-data.ts'
import { tags } from '../../events/index.ts'
import { mayFail, minionsAtOnce } from '../../jobs/batch-size.ts'
import { BatchWindow } from '../../jobs/batch-window.ts'
import type { BatchOrder, StoredBatch } from '../../jobs/batches.ts'
import { ASK_AGAIN_MS, RECONNECT_MS } from '../../jobs/job-states.ts'
import { jobStatusOf } from '../../wire/job-status.ts'
import { readRawArguments } from '../../wire/raw-arguments.ts'
import { type Delivery, planDelivery } from '../preflight/delivery.ts'
import type { WorkerContext } from '../worker/context.ts'
import { type JobToPublish, publishJob, storeJobToPublish } from '../worker/publish-job.ts'
import { BatchMembers } from './batch-members.ts'

export type BatchContext = Pick<
  WorkerContext,
  | 'clock'
  | 'config'
  | 'fire'
  | 'jobs'
  | 'keys'
  | 'log'
  | 'meter'
  | 'minions'
  | 'nextJid'
  | 'publications'
  | 'publish'
  | 'starts'
  | 'tracer'
>

/** How often to look for late answers to the ping. */
const LATE_PINGS_MS = 2_000

/** A `saltutil.find_job` that was sent to silent minions of a wave. */
interface Question {
  readonly jid: string
  readonly until: number
  readonly ids: Set<string>
}

/**
 * One batch of this master, advanced in steps. All its state is in the job cache: which minions are pending, running and
 * done, and their returns. So no event can be missed, and a restart changes nothing. A minion is stored as running, with
 * the jid of its wave, before the wave is published; no minion is ever sent a second wave.
 */
export class RunningBatch {
  readonly #context: BatchContext
  readonly #jid: string
  readonly #order: BatchOrder
  readonly #members: BatchMembers
  /** Minions that were running when the master was restarted: their wave may not have been published. */
  readonly #unsure: Set<string>
  /** Minions that have answered once that their wave does not run there. */
  readonly #saidNo = new Set<string>()
  readonly #deadlines = new Map<string, number>()
  #begun: StoredBatch['begun']
  #window: BatchWindow | undefined
  #ping: { readonly jid: string; readonly until: number } | undefined
  #questions: Question[] = []
  #lookedForLate = 0

  constructor(context: BatchContext, { jid, order, begun, members }: StoredBatch, now: number) {
    this.#context = context
    this.#jid = jid
    this.#order = order
    this.#begun = begun
    this.#members = new BatchMembers(members)
    this.#unsure = new Set(this.#members.inState('running'))
    const waitMs = Math.max(order.timeoutMs, RECONNECT_MS)
    for (const id of this.#unsure) this.#deadlines.set(id, now + waitMs)
    if (begun) this.#window = this.#openWindow(begun, now)
  }

  /** Advance the batch. Resolves with true when it is over. After a rejection it must be loaded from the store again. */
  async step(now: number): Promise<boolean> {
    const { batches } = this.#context.jobs
    const stopped = batches.stopped(this.#jid)
    if (!this.#window) {
      if (stopped !== undefined) {
        await this.#finish(stopped)
        return true
      }
      await this.#pingAll(now)
    }
    const window = this.#window
    if (!window) return false
    if (stopped !== undefined) window.halt(stopped)
    this.#queueLateMinions(window, now)
    this.#takeReturns(window, now)
    const unsent = this.#conclude(window, now)
    const { halted } = window
    if (halted !== undefined && stopped === undefined) await batches.stop(this.#jid, halted)
    await this.#save()
    await this.#sendAgain(halted === undefined ? unsent : [], now)
    await this.#ask(now)
    const next = window.next(now)
    if (next.length > 0 && !(await this.#startWave(next, now))) window.putBack(next)
    if (!window.over) return false
    await this.#finish(window.halted)
    return true
  }

  /** Ping all minions, and begin once all have answered or time is up. After a restart they are pinged again. */
  async #pingAll(now: number): Promise<void> {
    if (!this.#ping) {
      const job = this.#jobFor(this.#members.inState('down'), {
        fun: 'test.ping',
        arg: [],
        shownArg: [],
        ret: '',
      })
      const jid = this.#context.nextJid()
      const metadata = { ...this.#metadata().metadata, ping_jid: jid }
      const ping = { ...job, words: undefined, extras: { metadata } }
      if (!(await storeJobToPublish(this.#context, ping, jid))) return
      await this.#publish(jid, ping)
      this.#ping = { jid, until: now + this.#order.pingMs }
    }
    const { jid, until } = this.#ping
    const down = this.#members.inState('down')
    const available = down.filter((id) => this.#context.jobs.return(jid, id))
    if (available.length < down.length && now < until) return
    await this.#begin(jid, available, now)
  }

  async #begin(ping: string, available: readonly string[], now: number): Promise<void> {
    const { size, mayFail: limit } = this.#order
    const slots = minionsAtOnce(size, available.length)
    const begun = { ping, slots, ...(limit && { mayFail: mayFail(limit, available.length) }) }
    this.#members.setStored(available, { state: 'queued' })
    await this.#context.fire(tags.batchStart(this.#jid), {
      available_minions: available,
      down_minions: this.#members.inState('down'),
      ...this.#metadata(),
    })
    await this.#context.jobs.batches.begin(this.#jid, begun, available)
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
      this.#members.inState('running'),
      this.#members.inState('failed').length + this.#members.inState('gone').length,
      now,
    )
    window.join(this.#members.inState('queued'))
    return window
  }

  #queueLateMinions(window: BatchWindow, now: number): void {
    const ping = this.#begun?.ping
    if (ping === undefined || now - this.#lookedForLate < LATE_PINGS_MS) return
    this.#lookedForLate = now
    const late = this.#members.inState('down').filter((id) => this.#context.jobs.return(ping, id))
    for (const id of late) this.#members.set(id, { state: 'queued' })
    window.join(late)
  }

  #takeReturns(window: BatchWindow, now: number): void {
    for (const id of [...window.running.keys()]) {
      const wave = this.#members.waveOf(id)
      const ret = wave === undefined ? undefined : this.#context.jobs.return(wave, id)
      if (ret) this.#done(window, id, endStateOf(ret), now)
    }
  }

  #done(window: BatchWindow, id: string, state: 'done' | 'failed' | 'gone', now: number): void {
    const wave = this.#members.waveOf(id)
    this.#members.set(id, { state, ...(wave !== undefined && { wave }) })
    this.#deadlines.delete(id)
    window.finished(id, state === 'done', now)
  }

  /**
   * Process the answers to `saltutil.find_job`. A minion that does not answer, or answers twice that the job does not run, is
   * given up. Return the minions to which the wave is to be sent again: after a restart those that keep accepted jids on disk,
   * unless the batch was stopped.
   */
  #conclude(window: BatchWindow, now: number): string[] {
    const unsent: string[] = []
    for (const { jid, until, ids } of this.#questions) {
      for (const id of [...ids]) {
        const answer = this.#context.jobs.return(jid, id)
        const isSilent = !answer && now < until
        if (window.running.has(id) && isSilent) continue
        ids.delete(id)
        if (!window.running.has(id)) continue
        if (isRecord(answer?.return) && Object.keys(answer.return).length > 0) {
          this.#deadlines.set(id, now + this.#order.timeoutMs)
          continue
        }
        const wasUnsure = this.#unsure.delete(id)
        if (wasUnsure && window.halted === undefined && this.#remembers(id)) unsent.push(id)
        else if (answer && !this.#saidNo.has(id)) {
          this.#saidNo.add(id)
          this.#deadlines.set(id, now + ASK_AGAIN_MS)
        } else this.#done(window, id, 'gone', now)
      }
    }
    this.#questions = this.#questions.filter(({ ids }) => ids.size > 0)
    return unsent
  }

  /** Whether a minion keeps accepted jids on disk, as those of salt-ts do; Python Salt keeps some of them, in memory. */
  #remembers(id: string): boolean {
    const grains = this.#context.minions.grains(id)
    return grains !== undefined && !arePythonGrains(grains)
  }

  /** Publish waves again under the same jid: a minion that has run the job, or runs it, ignores it. */
  async #sendAgain(ids: readonly string[], now: number): Promise<void> {
    for (const [wave, members] of this.#members.byWave(ids)) {
      const { deliveries } = this.#context.jobs
      // One that it was cancelled for, or has expired for, keeps silent and is given up.
      const minions = members.filter(
        (id) => !this.#order.deliverWithin || deliveries.untilFor(wave, id) !== undefined,
      )
      if (minions.length === 0) continue
      for (const id of minions) this.#deadlines.set(id, now + this.#order.timeoutMs)
      const untilMs = deliveries.until(wave)
      const delivery = untilMs === undefined ? undefined : { untilMs, takers: minions, waiting: [] }
      await publishJob(this.#context, wave, this.#jobFor(minions, { delivery }))
    }
  }

  async #ask(now: number): Promise<void> {
    const asked = new Set(this.#questions.flatMap(({ ids }) => [...ids]))
    const overdue = [...this.#deadlines].filter(([id, deadline]) => deadline <= now && !asked.has(id))
    for (const [wave, ids] of this.#members.byWave(overdue.map(([id]) => id))) {
      const call = { fun: 'saltutil.find_job', arg: [wave], shownArg: [wave], ret: '' }
      const job = { ...this.#jobFor(ids, call), words: undefined, extras: {} }
      const jid = await storeJobToPublish(this.#context, job)
      if (!jid) continue
      await this.#publish(jid, job)
      this.#questions.push({ jid, until: now + this.#order.gatherMs, ids: new Set(ids) })
    }
  }

  /** Resolves with false if the batch was stopped meanwhile. */
  async #startWave(ids: readonly string[], now: number): Promise<boolean> {
    const delivery = await this.#planDelivery(ids)
    const job = this.#jobFor(ids, { delivery, batch: this.#jid })
    const wave = await storeJobToPublish(this.#context, job, this.#context.nextJid())
    if (wave === undefined) {
      if (this.#context.jobs.batches.stopped(this.#jid) !== undefined) return false
      throw new Error('no free job id was found')
    }
    for (const id of ids) {
      this.#members.set(id, { state: 'running', wave })
      this.#deadlines.set(id, now + this.#order.timeoutMs)
    }
    await this.#save()
    await this.#publish(wave, job)
    return true
  }

  /** A minion whose key was deleted meanwhile does not get the job later. */
  async #planDelivery(ids: readonly string[]): Promise<Delivery | undefined> {
    const { deliverWithin } = this.#order
    if (!deliverWithin) return undefined
    const accepted = new Set<string>(await this.#context.keys.minions())
    return planDelivery(
      this.#context,
      deliverWithin,
      ids.filter((id) => accepted.has(id)),
    )
  }

  /** Publish the job to the minions that did not answer the ping: they get it when they come. */
  async #deliverLater(): Promise<void> {
    const away = this.#members.inState('down')
    if (away.length > 0) await this.#startWave(away, this.#context.clock.now())
    for (const [wave, ids] of this.#members.byWave(away))
      for (const id of ids) this.#members.set(id, { state: 'gone', wave })
    await this.#save()
  }

  async #publish(jid: string, job: JobToPublish): Promise<void> {
    const { fun, minions } = job
    const about = { part: 'publish', under: 'nothing', jid, fun, minions: minions.length } as const
    this.#context.tracer?.note({ ...about, start: Date.now() })
    await publishJob(this.#context, jid, job)
  }

  async #finish(haltedBefore: string | undefined): Promise<void> {
    for (const id of this.#members.inState('gone')) {
      const wave = this.#members.waveOf(id)
      const late = wave !== undefined && this.#context.jobs.return(wave, id)
      if (late) this.#members.set(id, { state: endStateOf(late), wave })
    }
    await this.#save()
    if (this.#order.deliverWithin && haltedBefore === undefined) await this.#deliverLater()
    const halted = haltedBefore ?? this.#context.jobs.batches.stopped(this.#jid)
    const down = this.#members.inState('down')
    await this.#context.fire(tags.batchDone(this.#jid), {
      available_minions: this.#members.present(),
      down_minions: down,
      done_minions: [...this.#members.inState('done'), ...this.#members.inState('failed')],
      timedout_minions: this.#members.inState('gone'),
      ...(halted !== undefined && { stopped: halted, pending_minions: this.#members.inState('queued') }),
      ...this.#metadata(),
    })
    await this.#context.jobs.batches.finish(this.#jid, halted)
    this.#context.log.info(`Batch ${this.#jid} is done. ${halted ?? ''}`.trim())
  }

  /** Build the job for some of the minions; `call` replaces what it runs. */
  #jobFor(ids: readonly string[], call: Partial<JobToPublish> = {}): JobToPublish {
    const { fun, arg, shownArg, user, owner, ret, extras } = this.#order
    return {
      fun,
      arg,
      shownArg,
      user,
      owner,
      ret,
      words: readRawArguments(this.#order.words),
      extras: { ...extras, ...this.#metadata() },
      tgt: [...ids],
      tgtType: 'list',
      minions: ids,
      missing: [],
      ...call,
    }
  }

  #metadata() {
    return { metadata: { ...this.#order.metadata, batch_jid: this.#jid } }
  }

  #save(): Promise<void> {
    return this.#members.save(this.#context.jobs.batches, this.#jid)
  }
}

function endStateOf(ret: Readonly<Record<string, unknown>>): 'done' | 'failed' {
  const { retcode, success } = jobStatusOf(ret)
  return success && retcode === 0 ? 'done' : 'failed'
}
