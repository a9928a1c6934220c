import { messageOf } from '../../base/errors.ts'
import { Semaphore } from '../../base/semaphore.ts'
import type { MasterConfig } from '../../config/index.ts'
import { apiReloads, logOptions } from '../../config/reload.ts'
import { SymmetricKey } from '../../crypto/index.ts'
import { tags } from '../../events/index.ts'
import { jobSinks, loadSinks } from '../../jobs/open-job-cache.ts'
import type { KindName } from '../../loader/index.ts'
import type { Logger } from '../../log/index.ts'
import type { WorkerProxy } from '../../transport/proxy.ts'
import { eventTargets } from '../publisher/event-sink.ts'
import { ExtensionWatch, kindsLoadedByWorkers } from './extension-watch.ts'
import type { ChildSpec, Supervisor } from './supervisor.ts'

/** Together with the time that pending requests get (core/transport/proxy), a master stops within 5 seconds. */
const WORKERS_STOP_MS = 1_500
const PUBLISHER_STOP_MS = 1_000
/** How long salt-api may take to answer pending requests. */
const API_STOP_MS = 1_500
/** How long a worker may take to finish its requests before it is replaced. */
const FINISH_MS = 60_000

interface ChildrenSettings {
  readonly config: MasterConfig
  readonly log: Logger
  readonly supervisor: Supervisor
  readonly proxy: WorkerProxy
}

/** The child processes of a master: the publisher, workers, the process that writes to external stores, and salt-api. */
export class MasterChildren {
  readonly #log: Logger
  readonly #supervisor: Supervisor
  readonly #proxy: WorkerProxy
  readonly #workers: readonly ChildSpec[]
  /** Undefined if nothing is written to external stores. */
  readonly #returner: ChildSpec | undefined
  readonly #replacing = new Semaphore(1)
  /** Configuration of the children that are started from now on. */
  #config: MasterConfig
  #aes = SymmetricKey.generate()
  #stuck = 0

  constructor({ config, log, supervisor, proxy }: ChildrenSettings) {
    this.#config = config
    this.#log = log
    this.#supervisor = supervisor
    this.#proxy = proxy
    this.#workers = Array.from({ length: config.worker_threads }, (_, index) =>
      this.#worker(`MWorker-${index}`),
    )
    if (writesOutside(config)) this.#returner = this.#child('returner', 'master/returners/returner-process')
  }

  /** The configuration as of the last reload. */
  get config(): MasterConfig {
    return this.#config
  }

  /** Number of workers that were replaced because they did not answer. */
  get stuck(): number {
    return this.#stuck
  }

  /** Resolves when the publisher and all workers are ready. */
  async start(): Promise<void> {
    if (this.#config.cluster_id !== undefined) await this.#supervisor.start(this.#cluster)
    // The next publisher numbers publications from 1 again; under the same key minions would treat them as replays.
    const onGone = () => void this.rotate(false)
    await this.#supervisor.start({
      ...this.#child('publisher', 'master/publisher/publisher-process'),
      onGone,
    })
    this.#proxy.onStuck((worker) => {
      this.#log.error(`${worker} does not answer and is replaced; its requests go to another worker`)
      this.#supervisor.kill(worker)
      this.#stuck++
    })
    if (this.#returner) await this.#supervisor.start(this.#returner)
    await Promise.all(this.#workers.map((worker) => this.#supervisor.start(worker)))
    if (servesApi(this.#config)) this.#supervisor.keep(this.#api)
  }

  /**
   * Make a new AES key. Workers get it first: a minion that cannot decrypt a publication signs in, and must get the key
   * that the publication was encrypted with.
   */
  readonly rotate = (revoke: boolean): Promise<void> => this.#use(SymmetricKey.generate(), revoke)

  async #use(aes: SymmetricKey, revoke: boolean): Promise<void> {
    this.#aes = aes
    for (const prefix of ['MWorker', 'publisher', 'cluster'])
      await this.#supervisor.tellRotation({ type: 'rotate', aes: aes.text, revoke }, prefix)
    this.fire(tags.keyRotated, { rotate_aes_key: true })
  }

  /** Fire an event on the event bus. */
  readonly fire = (tag: string, data: Record<string, unknown>): void =>
    this.#supervisor.tell({ type: 'fire', tag, data }, 'publisher')

  /** Apply a configuration; `changed` names the options that differ. */
  async reload(next: MasterConfig, changed: ReadonlySet<string>): Promise<void> {
    const served = servesApi(this.#config)
    this.#config = next
    this.#supervisor.tell({ type: 'reload', config: next })
    if ([...changed].some((name) => !logOptions.has(name))) await this.#replace(this.#workers)
    if (![...changed].some((name) => apiReloads.has(name))) return
    if (!served) return servesApi(next) ? this.#supervisor.keep(this.#api) : undefined
    if (servesApi(next)) await this.#supervisor.replace(this.#api, API_STOP_MS)
    else await this.#supervisor.end(this.#api.name, API_STOP_MS)
  }

  /** Replace processes whenever the files of extensions they have loaded change. */
  async watchExtensions(): Promise<{ close(): void }> {
    const watches = await Promise.all([
      this.#watch('The workers are', kindsLoadedByWorkers, this.#workers),
      ...(this.#returner
        ? [this.#watch('The process that writes to stores is', ['returners'], [this.#returner])]
        : []),
    ])
    return {
      close() {
        for (const watch of watches) watch.close()
      },
    }
  }

  /** Stop answering requests: salt-api, the request port, then the workers. The publisher continues. */
  async stopRequests(): Promise<void> {
    await Promise.all([this.#supervisor.stop('salt-api', API_STOP_MS), this.#proxy.close()])
    await this.#supervisor.stop('MWorker', WORKERS_STOP_MS)
  }

  /** Stop all children that are left. */
  async stop(): Promise<void> {
    await this.#supervisor.stop('', PUBLISHER_STOP_MS)
  }

  #child(name: string, entry: ChildSpec['entry']): ChildSpec {
    return { name, entry, start: () => ({ type: 'start', name, config: this.#config, aes: this.#aes.text }) }
  }

  #worker(name: string): ChildSpec {
    return {
      ...this.#child(name, 'master/worker/worker-process'),
      onGone: () => this.#proxy.workerGone(name),
      onHang: () => {
        this.#stuck++
      },
    }
  }

  get #cluster(): ChildSpec {
    return {
      ...this.#child('cluster', 'master/cluster/cluster-process'),
      onAdopt: (text, revoke) => {
        if (text !== this.#aes.text) void this.#use(SymmetricKey.parse(text), revoke)
      },
    }
  }

  readonly #api: ChildSpec = {
    name: 'salt-api',
    entry: 'api/api-process',
    start: () => ({ type: 'serve', config: this.#config }),
  }

  /** Replace processes one after the other. The request port stays open meanwhile: requests wait for a worker. */
  async #replace(children: readonly ChildSpec[]): Promise<void> {
    const release = await this.#replacing.take()
    try {
      for (const child of children) await this.#supervisor.replace(child, FINISH_MS)
    } finally {
      release()
    }
  }

  #watch(who: string, kinds: readonly KindName[], children: readonly ChildSpec[]): Promise<ExtensionWatch> {
    return ExtensionWatch.open({
      kinds,
      config: () => ({ ...this.#config }),
      onError: (error) =>
        this.#log.error(`Files of extensions could not be checked for changes: ${messageOf(error)}`),
      onChange: () => {
        this.#log.info(`${who} replaced, because files of extensions have changed (${kinds.join(', ')}).`)
        return this.#replace(children)
      },
    })
  }
}

const servesApi = ({ api }: MasterConfig): boolean => (typeof api === 'boolean' ? api : api.start !== false)

const writesOutside = (config: MasterConfig): boolean =>
  [eventTargets, jobSinks, loadSinks].some((sinksOf) => sinksOf(config).length > 0)
