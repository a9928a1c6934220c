/** A master and its minions in the test's own process, joined by either transport; jobs run in that process as well. */
import { decode } from '../../core/codec/index.ts'
import { tags } from '../../core/events/index.ts'
import { openPublisher, type Publisher } from '../../core/master/publisher/publisher.ts'
import type { Minion } from '../../core/minion/minion.ts'
import { Minions } from '../../core/testing/minions.ts'
import type { RequestServer } from '../../core/transport/contract.ts'
import { getTransport } from '../../core/transport/index.ts'
import { serveRequests } from '../../core/transport/serve-requests.ts'
import { packClear } from '../../core/wire/envelope.ts'
import { InProcessMaster } from './in-process-master.ts'
import { until } from './until.ts'

export interface InProcessClusterSetup {
  readonly minions: readonly string[]
  readonly transport: 'memory' | 'zeromq'
  readonly master?: Readonly<Record<string, unknown>>
  readonly minion?: Options | ((id: string) => Options)
}

type Options = Readonly<Record<string, unknown>>

export class InProcessCluster {
  readonly master: InProcessMaster
  readonly #minions: Minions
  readonly #requests: RequestServer
  readonly #publisher: Publisher

  static async open(setup: InProcessClusterSetup): Promise<InProcessCluster> {
    const transport = getTransport(setup.transport)
    const local = { interface: '127.0.0.1', publish_port: 0, auto_accept: true }
    const master = await InProcessMaster.open({
      options: { ...local, ...setup.master },
      publish: (...job) => publisher.channel.publish(...job),
    })
    const { config, aesKeys, context } = master
    const publisher = await openPublisher({ config, transport, aesKeys, masterKey: context.masterKey })
    const requests = await serveRequests(transport, { host: config.interface, port: 0 })
    requests.serve((frame) => master.answer(frame))
    const cluster = new InProcessCluster(setup, master, requests, publisher)
    await Promise.all(setup.minions.map((id) => cluster.startMinion(id)))
    return cluster
  }

  private constructor(
    setup: InProcessClusterSetup,
    master: InProcessMaster,
    requests: RequestServer,
    publisher: Publisher,
  ) {
    this.master = master
    this.#requests = requests
    this.#publisher = publisher
    this.#minions = new Minions({
      root: master.root,
      transport: setup.transport,
      ports: { master: requests.port, publish: publisher.server.port },
      options: typeof setup.minion === 'function' ? setup.minion : () => (setup.minion ?? {}) as Options,
    })
  }

  get minions(): ReadonlyMap<string, Minion> {
    return this.#minions.running
  }

  /** Run a job, and give what each of the minions it reaches returns. */
  async run(tgt: string, fun: string, arg: readonly unknown[] = []): Promise<Record<string, unknown>> {
    const load = { cmd: 'publish', tgt, fun, arg, user: 'root', key: await this.master.rootKey() }
    const reply = decode(await this.master.answer(packClear(load))) as {
      load: { jid: string; minions: string[] }
    }
    const { jid, minions } = reply.load
    const returns = () => this.master.context.jobs.returns(jid)
    await Promise.all(minions.map((id) => this.returned(jid, id)))
    return Object.fromEntries([...returns()].map(([id, ret]) => [id, ret.return]))
  }

  /** Wait for a return to be stored. */
  async returned(jid: string, id: string): Promise<void> {
    await until(
      () => `the return of ${id}, which has logged:\n${this.logged(id).slice(-20).join('\n')}`,
      () => this.master.context.jobs.return(jid, id),
    )
  }

  /** What a minion has logged: level and sentence. */
  logged(id: string): readonly string[] {
    return this.#minions.logged(id)
  }

  stopMinion(id: string): Promise<void> {
    return this.#minions.stop(id)
  }

  /** Addresses of the event bus of a minion. */
  minionSockets(id: string) {
    return this.#minions.sockets(id)
  }

  /** The master is not reached any more. */
  async vanish(): Promise<void> {
    await this.#requests.close()
    await this.#publisher.close()
  }

  async close(): Promise<void> {
    await this.#minions.close()
    await this.vanish()
    await this.master.close()
  }

  async startMinion(id: string): Promise<void> {
    const starts = this.#starts(id)
    await this.#minions.start(id)
    await until(`the start of ${id}`, () => this.#starts(id) > starts)
  }

  #starts(id: string): number {
    return this.master.events.filter(({ tag }) => tag === tags.minionStart(id)).length
  }
}
