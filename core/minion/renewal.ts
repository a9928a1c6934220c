import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Log } from '../author/context.ts'
import { messageOf } from '../base/errors.ts'
import type { MinionConfig } from '../config/index.ts'
import { type EventPublisher, tags } from '../events/index.ts'
import type { Loader } from '../loader/index.ts'
import { strftime } from '../log/strftime.ts'
import { makeMinionEvent } from '../wire/minion-event.ts'
import type { CatalogueReporter } from './catalogue-reporter.ts'
import type { ControlFunctions } from './control-functions.ts'
import type { Facts } from './facts.ts'
import type { JobPool } from './job-pool.ts'
import type { MasterLink } from './master-link.ts'
import { firstOf } from './master-links.ts'
import { fetchPillar } from './pillar.ts'

export interface RenewalSettings {
  readonly config: MinionConfig
  readonly log: Log
  readonly facts: Facts
  readonly loader: Loader
  readonly control: Pick<ControlFunctions, 'look'>
  readonly pool: Pick<JobPool, 'refresh'>
  readonly reporter: Pick<CatalogueReporter, 'refreshNow'>
  readonly bus: Pick<EventPublisher, 'publish'>
  readonly links: readonly MasterLink[]
  /** Fetch the extensions of a master. */
  sync(link: MasterLink): Promise<unknown>
  /** The pillar is another one now, or files of extensions may have changed. */
  onChange(): void
}

/** How long a minion that starts waits for its extensions. */
const AUTOLOAD_MS = 10_000

/** Brings what the minion knows and offers up to date, and tells its masters: grains, pillar, modules. */
export class Renewal {
  readonly #settings: RenewalSettings
  #autoloaded = false
  /** Sentences about modules in the place of built-in ones. */
  #told = new Set<string>()

  constructor(settings: RenewalSettings) {
    this.#settings = settings
  }

  /** A master has taken the minion: all is there before it is told that the minion has started. */
  async begin(link: MasterLink): Promise<void> {
    const { config, facts, log } = this.#settings
    await this.#loadPillar(link)
    await this.#autoload(link)
    const { id } = config
    const data = `Minion ${id} started at ${strftime('%a %b %e %H:%M:%S %Y', new Date())}`
    const names = config.start_event_grains.filter((name) => Object.hasOwn(facts.grains, name))
    const grains = Object.fromEntries(names.map((name) => [name, facts.grains[name]]))
    const started = config.enable_legacy_startup_events ? [tags.minionStartLegacy] : []
    for (const tag of [...started, tags.minionStart(id)]) {
      await link.request(makeMinionEvent(id, { tag, data }, names.length ? { grains } : {}))
    }
    log.info(`Minion ${id} is ready to receive jobs from ${link.address}`)
  }

  /** Done when the next job has the new code, and the masters know what it offers, so that they judge jobs by that. */
  async refreshModules(): Promise<void> {
    await this.reload()
    await this.#settings.reporter.refreshNow()
  }

  /** Done when the master that asked for it knows the grains, or else the first one; the others are told meanwhile. */
  async refreshGrains(asking?: MasterLink): Promise<void> {
    const { facts, reporter, links: all, bus, log } = this.#settings
    await facts.collectGrains()
    await this.reload()
    const told = reporter.refreshNow()
    const links = all.filter((link) => link.isSignedIn) // the others get them when they sign in
    const loads = new Map(links.map((link) => [link, this.#loadPillar(link)]))
    for (const [{ address }, load] of loads) {
      load.catch((error: unknown) =>
        log.warn(`The master ${address} was not told the grains: ${messageOf(error)}`),
      )
    }
    if (loads.size) await ((asking && loads.get(asking)) ?? firstOf([...loads.values()]))
    await told
    bus.publish(tags.pillarRefreshDone, { complete: true })
  }

  /** Modules that stand in the place of built-in ones are told of when that is new. */
  async lookForOverrides(): Promise<void> {
    const { loader, control, log } = this.#settings
    await control.look(loader)
    const sentences = (await loader.overrides()).map(({ sentence }) => sentence)
    for (const sentence of sentences) if (!this.#told.has(sentence)) log.warn(sentence)
    this.#told = new Set(sentences)
  }

  /** Files were changed without a word to the minion: all its processes see the same from now on. */
  async reload(): Promise<void> {
    const { loader, facts, pool, bus, onChange } = this.#settings
    await loader.reload()
    await this.lookForOverrides()
    await facts.reloadMatchers()
    pool.refresh()
    onChange()
    bus.publish(tags.moduleRefreshDone, { complete: true })
  }

  /** The master keeps the grains that go along. */
  async #loadPillar(link: MasterLink): Promise<void> {
    const { config, facts, pool, onChange } = this.#settings
    const pillar = await fetchPillar(link, config, facts.grains)
    if (isDeepStrictEqual(pillar, facts.pillar)) return
    facts.pillar = pillar
    pool.refresh() // its processes were given the one before
    onChange()
  }

  /** Extensions, of the master that is first, are there before the minion says that it has started, unless that takes long. */
  async #autoload(link: MasterLink): Promise<void> {
    const { config, sync, log } = this.#settings
    if (!config.autoload_dynamic_modules || this.#autoloaded) return
    this.#autoloaded = true
    const synced = sync(link).catch((error: unknown) =>
      log.warn(`Extensions were not synced: ${messageOf(error)}`),
    )
    await Promise.race([synced, delay(AUTOLOAD_MS, undefined, { ref: false })])
  }
}
