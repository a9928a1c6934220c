import type { Log } from '../author/context.ts'
import { messageOf } from '../base/errors.ts'
import type { MinionConfig } from '../config/index.ts'
import type { Loaded } from '../config/reload.ts'
import { collectGrains, type Loader, openLoader } from '../loader/index.ts'
import type { TargetMatcher } from '../targets/index.ts'
import { openMatch, openMatchers } from '../targets/open-match.ts'
import type { JobLoad } from '../wire/publication.ts'
import type { Datastore } from './datastore.ts'

export interface FactsSettings {
  readonly config: MinionConfig
  readonly log: Log
  readonly datastore: Datastore
  /** Read the configuration again, for its grains. */
  load?(): Promise<Pick<Loaded<MinionConfig>, 'config'>>
}

/** The current grains and pillar of a minion, and the target matching that depends on them. */
export class Facts {
  readonly #settings: FactsSettings
  #grains: Record<string, unknown> = {}
  #static: Readonly<Record<string, unknown>>
  #matchers!: TargetMatcher
  pillar: Readonly<Record<string, unknown>> = {}

  /** Collect grains and load matchers. The pillar is empty until it is set. */
  static async open(settings: FactsSettings): Promise<Facts> {
    const facts = new Facts(settings)
    await facts.collectGrains()
    await facts.reloadMatchers()
    return facts
  }

  private constructor(settings: FactsSettings) {
    this.#settings = settings
    this.#static = settings.config.grains
  }

  get grains(): Readonly<Record<string, unknown>> {
    return this.#grains
  }

  async collectGrains(): Promise<void> {
    const { config, log } = this.#settings
    this.#grains = await collectGrains({ ...config, grains: await this.#staticGrains() }, log)
  }

  /** Read the grains of the configuration. If it cannot be read, log an error and return the previous ones. */
  async #staticGrains(): Promise<Readonly<Record<string, unknown>>> {
    const { log, load } = this.#settings
    try {
      if (load) this.#static = (await load()).config.grains
    } catch (error) {
      log.error(`The grains of the configuration were not read again and stay unchanged: ${messageOf(error)}`)
    }
    return this.#static
  }

  async reloadMatchers(): Promise<void> {
    const { config, log } = this.#settings
    this.#matchers = await openMatchers(config, log)
  }

  isTargetedBy({ tgt, tgt_type, delimiter }: JobLoad): boolean {
    const { config, datastore } = this.#settings
    const subject = {
      id: config.id,
      grains: this.#grains,
      pillar: this.pillar,
      get data() {
        return datastore.read()
      },
    }
    return this.#matchers.match({ tgt, tgt_type, ...(delimiter && { delimiter }) }, subject) === true
  }

  /** Open a loader whose modules get the grains and pillar that are current when a function runs. */
  openModules(): Loader {
    const { config, log } = this.#settings
    const facts = this
    return openLoader('modules', {
      config,
      log,
      get grains() {
        return facts.grains
      },
      get pillar() {
        return facts.pillar
      },
    })
  }

  /** Open the function that matches targets for a job (`context.match`). */
  openMatch(): ReturnType<typeof openMatch> {
    const { config, log, datastore } = this.#settings
    return openMatch({ config, id: config.id, grains: this.#grains, pillar: this.pillar, datastore, log })
  }
}
