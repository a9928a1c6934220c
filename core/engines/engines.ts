import { isDeepStrictEqual } from 'node:util'
import type { Log } from '../author/context.ts'
import type { EngineFacts } from '../author/engine.ts'
import { messageOf } from '../base/errors.ts'
import { encodeLocal } from '../codec/index.ts'
import { usersStamp } from '../loader/index.ts'
import { EngineKeeper } from './engine-keeper.ts'
import { enginesIn } from './engine-options.ts'
import type { EngineSpec } from './messages.ts'

interface EnginesSettings extends Pick<EngineFacts<unknown>, 'role' | 'id'> {
  readonly config: Config
  /** The grains of the minion as they are now. */
  grains?(): object
  readonly log: Log
}

type Config = Readonly<Record<string, unknown>>

interface Kept {
  readonly spec: EngineSpec
  readonly keeper: EngineKeeper
}

/** Time between two looks at the files of engines. Milliseconds. */
const LOOK_MS = 2_000

/** Runs the engines that the configuration of a daemon names, and starts them again when their files or options change. */
export class Engines {
  readonly #settings: EnginesSettings
  readonly #kept = new Map<string, Kept>()
  readonly #looking: NodeJS.Timeout
  #config: Config
  #stamp: string | undefined
  /** The end of the queue of starts and stops, which never overlap. */
  #work: Promise<void> = Promise.resolve()
  #closed = false

  constructor(settings: EnginesSettings) {
    this.#settings = settings
    this.#config = settings.config
    this.#looking = setInterval(() => void this.#next(() => this.#look()), LOOK_MS)
    void this.#next(() => this.#update())
  }

  /** Take another configuration: engines that it does not change run on. */
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
    clearInterval(this.#looking)
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

  /** Start all engines again if files came, went or changed, by a sync or by hand. */
  async #look(): Promise<void> {
    if (this.#kept.size === 0 || (await this.#stampNow()) === this.#stamp) return
    this.#settings.log.info('Files of engines have changed: all engines are started again.')
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
    for (const spec of wanted) if (!this.#kept.has(spec.name)) this.#keep(spec)
  }

  #keep(spec: EngineSpec): void {
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
    this.#kept.set(spec.name, { spec, keeper: new EngineKeeper(spec.name, start, log) })
  }

  async #stop(which: (spec: EngineSpec) => boolean): Promise<void> {
    const gone = [...this.#kept.values()].filter(({ spec }) => which(spec))
    await Promise.all(gone.map(({ keeper }) => keeper.stop()))
    for (const { spec } of gone) this.#kept.delete(spec.name)
  }

  /** Changes with the files of engines, and with the `utils` that they may import. */
  async #stampNow(): Promise<string> {
    return usersStamp(['engines', 'utils'], this.#config)
  }
}
