import type { Log } from '../author/context.ts'
import { messageOf } from '../base/errors.ts'
import type { MinionConfig } from '../config/index.ts'
import type { Loaded } from '../config/reload.ts'
import type { Datastore } from '../jobs/datastore.ts'
import { collectGrains } from '../loader/index.ts'
import type { TargetMatcher } from '../targets/index.ts'
import { openMatch, openMatchers } from '../targets/open-match.ts'
import type { JobLoad } from '../wire/publication.ts'

export interface FactsSettings {
  readonly config: MinionConfig
  readonly log: Log
  readonly datastore: Datastore
  /** Reads the configuration again, for its grains. */
  load?(): Promise<Pick<Loaded<MinionConfig>, 'config'>>
}

/** What a minion knows of itself, as of now: its grains, its pillar, and so which targets mean it. */
export class Facts {
  readonly #settings: FactsSettings
  #grains: Record<string, unknown> = {}
  #static: Readonly<Record<string, unknown>>
  #matchers!: TargetMatcher
  pillar: Readonly<Record<string, unknown>> = {}

  /** With grains, and without a pillar. */
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

  /** As the configuration has them now; those of before, and an error in the log, if it cannot be read. */
  async #staticGrains(): Promise<Readonly<Record<string, unknown>>> {
    const { log, load } = this.#settings
    try {
      if (load) this.#static = (await load()).config.grains
    } catch (error) {
      log.error(
        `The grains of the configuration were not read again, and stay as they are: ${messageOf(error)}`,
      )
    }
    return this.#static
  }

  async reloadMatchers(): Promise<void> {
    const { config, log } = this.#settings
    this.#matchers = await openMatchers(config, log)
  }

  isMeantBy({ tgt, tgt_type, delimiter }: JobLoad): boolean {
    const { config, datastore } = this.#settings
    const subject = {
      ...{ id: config.id, grains: this.#grains, pillar: this.pillar },
      get data() {
        return datastore.read()
      },
    }
    return this.#matchers.match({ tgt, tgt_type, ...(delimiter && { delimiter }) }, subject) === true
  }

  /** For a job that judges targets itself. */
  openMatch(): ReturnType<typeof openMatch> {
    const { config, log, datastore } = this.#settings
    return openMatch({ config, id: config.id, grains: this.#grains, pillar: this.pillar, datastore, log })
  }
}
