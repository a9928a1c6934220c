import type { Log } from '../author/context.ts'
import { messageOf } from '../base/errors.ts'
import { endsWithin } from '../base/with-timeout.ts'
import type { ReceivedPublication } from '../channel/subscription.ts'
import type { LocalClient } from '../client/index.ts'
import type { PrivateKey, PublicKey } from '../crypto/index.ts'
import { strftime } from '../dialect/strftime.ts'
import { type Event, tags } from '../events/index.ts'
import type { JobCache } from '../jobs/job-cache.ts'
import { syndicSink } from '../jobs/open-job-cache.ts'
import type { KnownMasterKey } from '../keys/minion-keys.ts'
import type { MasterAddress } from '../minion/link/master-addresses.ts'
import { MasterConnection } from '../minion/link/master-connection.ts'
import { writeTimes } from '../outbox/index.ts'
import type { OutboxItem } from '../outbox/outbox.ts'
import { TargetWriter } from '../outbox/target-writer.ts'
import type { Transport } from '../transport/contract.ts'
import { makeMinionEvent } from '../wire/minion-event.ts'
import { makeSyndicReport } from '../wire/syndic.ts'
import type { Origins } from './origins.ts'
import { publishBelow } from './publish-below.ts'
import type { SyndicConfig } from './settings.ts'
import { openUpward } from './upward.ts'

export interface UplinkSettings {
  readonly config: SyndicConfig
  /** The master above, as it is configured, and its address. */
  readonly master: string
  readonly address: MasterAddress
  readonly key: PrivateKey
  readonly known: KnownMasterKey
  readonly signingKey: PublicKey | undefined
  readonly transport: Transport
  readonly client: LocalClient
  readonly jobs: JobCache
  readonly origins: Origins
  readonly log: Log
  readonly signal: AbortSignal
  takesOwnJobs(): boolean
  readonly startToken: string
}

/** Time between attempts to send items that the master above did not accept. */
const RETRY = { minMs: 500, maxMs: 5_000 }
/** Time that requests which are pending when the syndic stops may wait for the master above. */
const FINISH_MS = 2_000

/** The link of a syndic to one master above. */
export class Uplink {
  readonly connection: MasterConnection
  readonly #settings: UplinkSettings
  /** Set once the answer of the master has shown whether it accepts reports of syndics. */
  #writer: TargetWriter | undefined
  readonly #running = new Set<Promise<void>>()

  constructor(settings: UplinkSettings) {
    const { config, address, key, known, signingKey, transport, log, startToken } = settings
    this.#settings = settings
    this.connection = new MasterConnection({
      config: config.upward,
      id: config.upward.id,
      key,
      known,
      signingKey,
      transport,
      address,
      log,
      startToken,
      isSyndic: true,
      grains: () => ({}),
      now: Date.now,
      onJob: (received) => this.#track(this.#take(received)),
      onReady: () => this.#announce(),
    })
  }

  /** Begin to send the items that wait for the master. */
  #openWriter(): TargetWriter {
    const { config, log, master, jobs, origins, takesOwnJobs } = this.#settings
    const upward = openUpward({
      id: config.upward.id,
      master,
      jobs,
      origins,
      log,
      takesOwnJobs,
      report: (jid) => this.#report(jid),
      request: (load) => this.connection.request(load),
    })
    return new TargetWriter({
      target: syndicSink(master),
      name: `of the master ${master}`,
      outbox: jobs.outbox,
      log,
      ...writeTimes(config.master),
      retry: RETRY,
      open: async () => upward,
    })
  }

  /** Serve the master until closed. Rejects when the syndic gives up on it, as a minion does. */
  run(): Promise<void> {
    return this.connection.run()
  }

  get isConnected(): boolean {
    return this.connection.publishConnection.isUp
  }

  /** Look for jobs and returns that were stored. */
  wake(): void {
    this.#writer?.wake()
  }

  /** Whether this master gets events about a job, or with undefined, events that concern no job. */
  wants(jid: string | undefined): boolean {
    const { origins, master, takesOwnJobs, config } = this.#settings
    const from = jid === undefined ? [] : origins.of(jid)
    if (from.length > 0) return from.includes(master)
    return config.master.syndic_forward_all_events || takesOwnJobs()
  }

  async sendEvents(events: readonly Event[]): Promise<void> {
    const { id } = this.#settings.config.upward
    await this.connection.request(makeMinionEvent(id, { events }, { pretag: `syndic/${id}` }))
  }

  /** Stop. Items that the master above does not accept in time stay in the outbox for the next run. */
  async close(): Promise<void> {
    await this.connection.unsubscribe()
    const finished = Promise.all([...this.#running, this.#writer?.close()])
    await endsWithin(finished, FINISH_MS)
    await this.connection.close() // rejects the requests that are left
    await finished
  }

  #track(work: Promise<void>): void {
    const { log } = this.#settings
    const tracked = work
      .catch((error: unknown) =>
        log.error(`A job from above could not be published here: ${messageOf(error)}`),
      )
      .finally(() => this.#running.delete(tracked))
    this.#running.add(tracked)
  }

  async #announce(): Promise<void> {
    const { id, enable_legacy_startup_events: isLegacy } = this.#settings.config.upward
    const data = `Syndic ${id} started at ${strftime('%a %b %e %H:%M:%S %Y', new Date())}`
    for (const tag of [...(isLegacy ? [tags.syndicStartLegacy] : []), tags.syndicStart(id)])
      await this.connection.request(makeMinionEvent(id, { tag, data }))
    this.#writer ??= this.#openWriter()
    this.#settings.log.info(`Syndic ${id} is ready to receive jobs from ${this.connection.address}`)
  }

  /** Publish a job below, once, and remember that this master waits for its returns. */
  async #take(received: ReceivedPublication): Promise<void> {
    const { config, client, jobs, origins, log, master, signal } = this.#settings
    const { jid, master_id, fun } = received.job
    if (master_id !== undefined && master_id === config.master.master_id) return
    const isPublished = jobs.load(jid) !== undefined
    if (isPublished && origins.of(jid).length === 0) return this.#refuseOwn(jid)
    const isNew = await origins.note(jid, master, Date.now())
    if (isPublished) return isNew ? this.#sendAgain(jid) : undefined
    log.info(`Got job ${jid} (${String(fun)}) from the master ${master}`)
    if (!(await publishBelow(received, { client, log, signal }))) await this.#report(jid)
  }

  /**
   * Report no minions for a job that was published on this host and comes back from above, since the masters are above each
   * other.
   */
  async #refuseOwn(jid: string): Promise<void> {
    const { log, master, config } = this.#settings
    log.warn(
      `The master ${master} sent job ${jid}, which was published on this host: that master is both above and below this one. The job is not run again. Remove one of the two syndics.`,
    )
    const none = { minions: [], unknown: [], waiting: [], awaits: [] }
    if (this.connection.takesSyndics)
      await this.connection.request(makeSyndicReport(config.upward.id, { jid, ...none }))
  }

  /** Queue a job that another master has already sent, and its returns, for this master as well. */
  async #sendAgain(jid: string): Promise<void> {
    const { jobs, master } = this.#settings
    const { load, minions } = jobs.load(jid) ?? {}
    if (!load || !minions) return
    const returns = Array.from(
      jobs.eachReturn(jid),
      ([id, ret]): OutboxItem => ({ kind: 'return', ret: { ...ret, jid, id } }),
    )
    await jobs.outbox.add([syndicSink(master)], [{ kind: 'load', jid, load, minions }, ...returns])
    this.wake()
  }

  /** Report the minions that this syndic speaks for in a job. A master of Python Salt gets an event instead. */
  async #report(jid: string): Promise<void> {
    const { config, jobs } = this.#settings
    const { minions = [], unknown = [], awaits = [] } = jobs.record(jid) ?? {}
    const { id } = config.upward
    if (!this.connection.takesSyndics) return this.sendEvents([{ tag: jid, data: { minions } }])
    const waiting = jobs.deliveries.takers(jid).filter((one) => !jobs.hasReturn(jid, one))
    await this.connection.request(makeSyndicReport(id, { jid, minions, unknown, waiting, awaits }))
  }
}
