/** A master and minions with ledgers, and what is done to them. */
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { ReturnSpool } from '../../core/jobs/return-spool.ts'
import { Cluster, type Daemon } from '../harness/daemons.ts'
import { isAlive, signalAll } from '../harness/processes.ts'
import { openProxy, type TcpProxy } from '../harness/proxy.ts'
import type { Random } from '../harness/random.ts'
import type { SmallDisk } from '../harness/small-disk.ts'
import { until } from '../harness/until.ts'
import { ledgerModules } from './ledger/build.ts'
import { type Entry, entriesIn, ledgerOf } from './ledger/entries.ts'
import { Recorder, type Work } from './recorder.ts'
import { type Resources, resourcesOf } from './resources.ts'

export interface FleetOptions {
  readonly minions?: number
  readonly master?: Readonly<Record<string, unknown>>
  readonly minion?: Readonly<Record<string, unknown>>
  /** The minions reach the master through proxies that can fail. */
  readonly isProxied?: boolean
  /** Called before a daemon is started for the first time; returns the disk it is to have. */
  disk?(daemon: Daemon): SmallDisk | undefined
  /** What a daemon is started within (see `Daemon.start`). */
  within?(daemon: Daemon): string[]
}

export interface Load {
  readonly jobs?: number
  /** The longest job, milliseconds. */
  readonly longest?: number
  readonly bytes?: number
}

const REST_MS = 1000
/** Jobs that are published at once. */
const LANES = 3

/** A proxy, and where it leads to. */
interface Way {
  readonly target: { readonly host: string; readonly port: number }
  proxy: TcpProxy
}

export class Fleet {
  readonly cluster: Cluster
  readonly ids: readonly string[]
  readonly disks: SmallDisk[] = []
  /** To the request port and to the publish port, if they can fail. */
  ways: readonly Way[] = []
  /** Pairs that an earlier trial was judged by, and how often they had begun then. */
  readonly judged = new Map<string, number>()
  readonly #options: FleetOptions
  /** What daemons said in earlier lives. */
  readonly #logs = new Map<Daemon, string>()
  #recorder: Recorder | undefined
  #isCut = false
  #before: Resources | undefined

  static async open(options: FleetOptions = {}): Promise<Fleet> {
    // However slow the machine is, minions come back in time for the jobs that they have missed.
    const master = { worker_threads: 2, missed_jobs_seconds: 600, ...options.master }
    const cluster = await Cluster.open({ master, start: false })
    const fleet = new Fleet(cluster, options)
    try {
      await fleet.#start()
      return fleet
    } catch (error) {
      await fleet.close()
      throw error
    }
  }

  private constructor(cluster: Cluster, options: FleetOptions) {
    this.cluster = cluster
    this.#options = options
    this.ids = Array.from({ length: options.minions ?? 3 }, (_, index) => `m${index + 1}`)
  }

  async #start(): Promise<void> {
    const { cluster } = this
    const { isProxied, minion: own, disk, within } = this.#options
    const takeDisk = (daemon: Daemon) => this.disks.push(...[disk?.(daemon) ?? []].flat())
    takeDisk(cluster.master)
    await cluster.startMaster(within?.(cluster.master))
    const ports = isProxied ? [cluster.ports.request, cluster.ports.publish] : []
    this.ways = await Promise.all(ports.map(openWay))
    const [master_port, publish_port] = this.ways.map(({ proxy }) => proxy.port)
    const detour = isProxied && { master_port, publish_port }
    const modules = ledgerModules(cluster.root)
    for (const id of this.ids) {
      const minion = cluster.minionDaemon(id, {
        module_dirs: [modules],
        process_count_max: 4,
        ...detour,
        ...own,
      })
      takeDisk(minion)
      await cluster.prepareMinion(minion)
      minion.start('info', within?.(minion))
    }
    for (const minion of cluster.minions.values()) await minion.logged('is ready to receive jobs')
    this.#recorder = await Recorder.open(cluster.config)
    await this.load({ jobs: 1 })
    await this.returned(this.ids.length)
    for (const pair of this.recorder.announced.keys()) this.judged.set(pair, 1)
    this.#before = await this.#atRest()
  }

  /** What the daemons hold once their pools of processes no longer change. */
  async #atRest(): Promise<Resources> {
    let last = this.resources()
    return until('the processes to be the same for a while', async () => {
      await delay(REST_MS)
      const [before, now] = [last, this.resources()]
      last = now
      return now.processes.join() === before.processes.join() && now
    })
  }

  get recorder(): Recorder {
    if (!this.#recorder) throw new Error('The fleet has not been started.')
    return this.#recorder
  }

  /** What the daemons held before anything was done to them. */
  get before(): Resources {
    if (!this.#before) throw new Error('The fleet has not been started.')
    return this.#before
  }

  get master(): Daemon {
    return this.cluster.master
  }

  get daemons(): readonly Daemon[] {
    return [this.master, ...this.cluster.minions.values()]
  }

  minion(id: string): Daemon {
    return this.cluster.minions.get(id) as Daemon
  }

  /** Publish jobs of random lengths, each again until the master accepts it; resolves when all are accepted. */
  async load({ jobs = 12, longest = 0, bytes = 0 }: Load, random?: Random): Promise<void> {
    const lengths = Array.from({ length: jobs }, () => random?.between(0, longest) ?? 0).values()
    const lane = async () => {
      for (const ms of lengths) await this.publish({ ms, bytes })
    }
    await Promise.all(Array.from({ length: LANES }, lane))
  }

  /** Publish a job, again until the master accepts it. */
  publish(work: Work) {
    return until(
      () => `a job to be accepted: ${this.recorder.refused.at(-1)}`,
      () => this.recorder.publish(work),
    )
  }

  ledger(): Entry[] {
    return this.daemons.flatMap(({ directory }) => entriesIn(readIfThere(ledgerOf(directory))))
  }

  /** How many runs have begun since the fleet was started. */
  begins(): number {
    return this.ledger().filter(({ what }) => what === 'begin').length
  }

  /** Wait until that is so many. */
  begun(count: number): Promise<boolean> {
    return until(
      () => `${count} runs to begin; ${this.begins()} have`,
      () => this.begins() >= count,
    )
  }

  /** Wait until so many returns were announced since the fleet was started. */
  returned(count: number): Promise<boolean> {
    const { announced } = this.recorder
    return until(
      () => `${count} returns; there are ${announced.size}`,
      () => announced.size >= count,
    )
  }

  /** The pids of the processes of a daemon whose command begins so; `main` is the daemon itself. */
  pids(daemon: Daemon, name: string): number[] {
    if (name === 'main') return [daemon.pid]
    return daemon
      .processes()
      .filter(({ command }) => command.startsWith(`${daemon.program} ${name}`))
      .map(({ pid }) => pid)
  }

  signal(daemon: Daemon, name: string, signal: NodeJS.Signals): void {
    signalAll(this.pids(daemon, name), signal)
  }

  /** Send a signal to processes of a daemon that make it replace them, and wait until it has. */
  async replace(daemon: Daemon, name: string, signal: NodeJS.Signals): Promise<void> {
    const old = this.pids(daemon, name)
    signalAll(old, signal)
    await until(`${name} to be replaced`, () => {
      const present = this.pids(daemon, name)
      return present.length === old.length && !present.some((pid) => old.includes(pid))
    })
  }

  /** Start a daemon again that has ended, and wait until it is ready. */
  async restart(daemon: Daemon): Promise<void> {
    this.startOnly(daemon)
    await daemon.logged(daemon === this.master ? 'salt-master is ready' : 'is ready to receive jobs')
  }

  /** Start a daemon again that has ended. */
  startOnly(daemon: Daemon): void {
    this.#logs.set(daemon, this.log(daemon))
    daemon.output = ''
    daemon.start('info', this.#options.within?.(daemon))
  }

  /** What a daemon has said in all its lives, since `forgetLogs`. */
  log(daemon: Daemon): string {
    return (this.#logs.get(daemon) ?? '') + daemon.output
  }

  forgetLogs(): void {
    this.#logs.clear()
    for (const daemon of this.daemons) daemon.output = ''
  }

  /** Refuse all connections of minions, and end those that are there. */
  async cut(): Promise<void> {
    this.#isCut = true
    for (const { proxy } of this.ways) await proxy.close()
  }

  /** Take connections again, at the ports of before, and at full speed. */
  async mend(): Promise<void> {
    for (const way of this.ways) {
      way.proxy.slow(0)
      if (this.#isCut) way.proxy = await openProxy(way.target, way.proxy.port)
    }
    this.#isCut = false
  }

  /** End all faults: daemons run, disks have room, and all of the network works. */
  async heal(): Promise<void> {
    for (const disk of this.disks) disk.makeRoom()
    await this.mend()
    for (const daemon of this.daemons) {
      signalAll(
        daemon.processes().map(({ pid }) => pid),
        'SIGCONT',
      )
      if (!isAlive(daemon.pid)) await this.restart(daemon)
    }
  }

  /** How many returns a minion still has for its master. */
  async owed({ directory }: Daemon): Promise<number> {
    const spool = ReturnSpool.open(`${directory}/cache/spool`)
    const { size } = spool
    await spool.close()
    return size
  }

  resources(): Resources {
    return resourcesOf(this.daemons, this.cluster.root)
  }

  async close(): Promise<void> {
    await this.#recorder?.close()
    for (const daemon of this.daemons)
      signalAll(
        daemon.processes().map(({ pid }) => pid),
        'SIGCONT',
      )
    // What a daemon is started within may not pass on the signal.
    for (const daemon of this.daemons) await (this.#options.within ? daemon.killAll() : daemon.stop())
    for (const disk of this.disks) disk.close()
    await this.cluster.close()
    if (!this.#isCut) for (const { proxy } of this.ways) await proxy.close()
  }
}

async function openWay(port: number): Promise<Way> {
  const target = { host: '127.0.0.1', port }
  return { target, proxy: await openProxy(target) }
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
