import { isDeepStrictEqual } from 'node:util'
import type { Log } from '../author/context.ts'
import type { EngineFacts } from '../author/engine.ts'
import { messageOf } from '../base/errors.ts'
import { encodeLocal } from '../codec/index.ts'
import { usersStamp } from '../loader/index.ts'
import { enginesIn } from './engine-options.ts'
import { EngineSupervisor } from './engine-supervisor.ts'
import type { EngineSpec } from './messages.ts'

interface EnginesSettings extends Pick<EngineFacts<unknown>, 'role' | 'id'> {
  readonly config: Config
  /** Return the current grains of the minion. */
  grains?(): object
  readonly log: Log
}

type Config = Readonly<Record<string, unknown>>

interface RunningEngine {
  readonly spec: EngineSpec
  readonly supervisor: EngineSupervisor
}

/** Time between two checks of the files of engines. */
const CHECK_MS = 2_000

/** Runs the engines in the configuration of a daemon, and restarts them when their files or options change. */
export class Engines {
  readonly #settings: EnginesSettings
  readonly #running = new Map<string, RunningEngine>()
  readonly #timer: NodeJS.Timeout
  #config: Config
  #stamp: string | undefined
  /** The end of the queue of starts and stops, which never overlap. */
  #work: Promise<void> = Promise.resolve()
  #closed = false

  constructor(settings: EnginesSettings) {
    this.#settings = settings
    this.#config = settings.config
    this.#timer = setInterval(() => void this.#next(() => this.#check()), CHECK_MS)
    void this.#next(() => this.#update())
  }

  /** Apply a new configuration. Engines that it does not change keep running. */
  reload(config: Config): Promise<void> {
    return this.#next(async () => {
      const before = this.#config
      this.#config = config
      const isOther = (key: string) => !isDeepStrictEqual(before[key], config[key])
      await (['engines_dirs', 'disable_engines'].some(isOther) ? this.#restart() : this.#update())
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#timer)
    await this.#work
    await this.#stop(() => true)
  }

  #next(act: () => Promise<void>): Promise<void> {
    const guarded = async () => {
      if (!this.#closed) await act()
    }
    this.#work = this.#work
      .then(guarded)
      .catch((error: unknown) => this.#settings.log.error(`Engines: ${messageOf(error)}`))
    return this.#work
  }

  /** Restart all engines if files were added, removed or changed, by a sync or by a user. */
  async #check(): Promise<void> {
    if (this.#running.size === 0 || (await this.#stampNow()) === this.#stamp) return
    this.#settings.log.info('Files of engines have changed: restarting all engines.')
    await this.#restart()
  }

  async #restart(): Promise<void> {
    await this.#stop(() => true)
    await this.#update()
  }

  /** Stop engines that are no longer configured, and start those that do not run yet. */
  async #update(): Promise<void> {
    const { log } = this.#settings
    const wanted = enginesIn(this.#config.engines, (sentence) => log.error(sentence))
    await this.#stop((spec) => !wanted.some((other) => isDeepStrictEqual(other, spec)))
    if (wanted.length > 0) this.#stamp = await this.#stampNow()
    if (this.#closed) return
    for (const spec of wanted) if (!this.#running.has(spec.name)) this.#startEngine(spec)
  }

  #startEngine(spec: EngineSpec): void {
    const { role, id, grains = () => ({}), log } = this.#settings
    const start = () =>
      ({
        type: 'start',
        ...spec,
        role,
        id,
        config: { ...this.#config },
        grains: encodeLocal(grains()),
      }) as const
    this.#running.set(spec.name, { spec, supervisor: new EngineSupervisor(spec.name, start, log) })
  }

  async #stop(which: (spec: EngineSpec) => boolean): Promise<void> {
    const gone = [...this.#running.values()].filter(({ spec }) => which(spec))
    await Promise.all(gone.map(({ supervisor }) => supervisor.stop()))
    for (const { spec } of gone) this.#running.delete(spec.name)
  }

  /** Return a value that changes with the files of engines, and with the `utils` that they may import. */
  async #stampNow(): Promise<string> {
    return usersStamp(['engines', 'utils'], this.#config)
  }
}
