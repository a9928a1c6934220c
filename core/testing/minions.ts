import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from '../author/context.ts'
import { loadMinionConfig, type MinionConfig } from '../config/index.ts'
import { minionEventSockets } from '../events/index.ts'
import { MinionKeys } from '../keys/index.ts'
import { type Minion, openMinion } from '../minion/minion.ts'
import { getTransport } from '../transport/index.ts'
import { recordingLog } from './recording-log.ts'

export interface MinionsSettings {
  /** The directory in which each minion has a subdirectory. */
  readonly root: string
  readonly transport: string
  /** Ports of the master on the loopback address. */
  readonly ports: { readonly master: number; readonly publish: number }
  /** Returns the configuration options of a minion. */
  options(id: string): Readonly<Record<string, unknown>>
  /** Called with the public key of a minion before it starts. */
  onKey?(id: string, pem: string): Promise<unknown>
  /** The log of all minions, whose lines are then not recorded. */
  readonly log?: Log | undefined
}

/** Minions in this process, with their jobs. */
export class Minions {
  readonly #settings: MinionsSettings
  readonly #running = new Map<string, Minion>()
  readonly #logged = new Map<string, string[]>()

  constructor(settings: MinionsSettings) {
    this.#settings = settings
  }

  get running(): ReadonlyMap<string, Minion> {
    return this.#running
  }

  /** Start a minion. It signs in after this has resolved. */
  async start(id: string): Promise<void> {
    const config = this.#config(id)
    await mkdir(config.root_dir, { recursive: true, mode: 0o700 })
    const { onKey } = this.#settings
    if (onKey) await onKey(config.id, (await MinionKeys.open(config)).key.publicKey.pem)
    const minion = await openMinion(config, this.#settings.log ?? this.#logOf(id), () =>
      getTransport(this.#settings.transport),
    )
    this.#running.set(id, minion)
    minion.run().catch(() => {})
  }

  async stop(id: string): Promise<void> {
    await this.#running.get(id)?.close()
    this.#running.delete(id)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#running.keys()].map((id) => this.stop(id)))
  }

  /** Return the log lines of a minion: level and message. */
  logged(id: string): readonly string[] {
    return this.#logged.get(id) ?? []
  }

  /** Return the socket addresses of a minion's event bus. */
  sockets(id: string) {
    const config = this.#config(id)
    return minionEventSockets(config, config.id)
  }

  #config(id: string): MinionConfig {
    const { root, ports, options } = this.#settings
    const folder = join(root, id)
    const overrides = {
      root_dir: folder,
      pki_dir: '/pki',
      cachedir: '/cache',
      sock_dir: '/run',
      id,
      master: '127.0.0.1',
      master_port: ports.master,
      publish_port: ports.publish,
      multiprocessing: false,
      catalogue_idle_time: 0,
      ...options(id),
    }
    return loadMinionConfig({ configDir: folder, overrides }).config
  }

  #logOf(id: string): Log {
    const lines: string[] = []
    this.#logged.set(id, lines)
    return recordingLog((level, message) => lines.push(`${level} ${message}`))
  }
}
