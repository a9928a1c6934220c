import { isDeepStrictEqual } from 'node:util'
import type { Log } from '../../author/context.ts'
import { messageOf } from '../../base/errors.ts'
import { endsWithin } from '../../base/with-timeout.ts'
import type { MinionConfig } from '../../config/index.ts'
import { strftime } from '../../dialect/strftime.ts'
import { type EventPublisher, tags } from '../../events/index.ts'
import type { Loader } from '../../loader/index.ts'
import { makeMinionEvent } from '../../wire/minion-event.ts'
import type { ControlFunctions } from '../control-functions.ts'
import type { Facts } from '../facts.ts'
import type { JobPool } from '../jobs/job-pool.ts'
import { fetchPillar } from '../pillar.ts'
import type { CatalogueReporter } from './catalogue-reporter.ts'
import type { MasterConnection } from './master-connection.ts'
import { firstFulfilled } from './master-connections.ts'

export interface RefresherSettings {
  readonly config: MinionConfig
  readonly log: Log
  readonly facts: Facts
  readonly loader: Loader
  readonly control: Pick<ControlFunctions, 'refresh'>
  readonly pool: Pick<JobPool, 'refresh'>
  readonly reporter: Pick<CatalogueReporter, 'refreshNow'>
  readonly bus: Pick<EventPublisher, 'publish'>
  readonly connections: readonly MasterConnection[]
  /** Fetch the extensions of a master. */
  sync(connection: MasterConnection): Promise<unknown>
  /** Called when the pillar has changed, or files of extensions may have changed. */
  onChange(): void
}

/** Time that a starting minion waits for its extensions. */
const AUTOLOAD_MS = 10_000

/** Refreshes grains, pillar and modules, and reports them to the masters. */
export class Refresher {
  readonly #settings: RefresherSettings
  #autoloaded = false
  /** Warnings already logged about modules that override built-in ones. */
  #warned = new Set<string>()

  constructor(settings: RefresherSettings) {
    this.#settings = settings
  }

  /** Prepare for jobs of a master that has accepted this minion, then send it the event that the minion has started. */
  async prepareFor(connection: MasterConnection): Promise<void> {
    const { config, facts, log } = this.#settings
    await this.loadPillar(connection)
    await this.#autoload(connection)
    const { id } = config
    const data = `Minion ${id} started at ${strftime('%a %b %e %H:%M:%S %Y', new Date())}`
    const names = config.start_event_grains.filter((name) => Object.hasOwn(facts.grains, name))
    const grains = Object.fromEntries(names.map((name) => [name, facts.grains[name]]))
    const started = config.enable_legacy_startup_events ? [tags.minionStartLegacy] : []
    for (const tag of [...started, tags.minionStart(id)]) {
      await connection.request(makeMinionEvent(id, { tag, data }, names.length ? { grains } : {}))
    }
    log.info(`Minion ${id} is ready to receive jobs from ${connection.address}`)
  }

  /** Resolves when the next job uses the new code and the masters have the new catalogue, by which they check jobs. */
  async refreshModules(): Promise<void> {
    await this.reload()
    await this.#settings.reporter.refreshNow()
  }

  /** Resolves when the asking master has the grains, or without one the first of them. The others get them meanwhile. */
  async refreshGrains(asking?: MasterConnection): Promise<void> {
    const { facts, reporter, connections: all, bus, log } = this.#settings
    await facts.collectGrains()
    await this.reload()
    const reported = reporter.refreshNow()
    const connections = all.filter((connection) => connection.isSignedIn) // the others get them when they sign in
    const loads = new Map(connections.map((connection) => [connection, this.loadPillar(connection)]))
    for (const [{ address }, load] of loads) {
      load.catch((error: unknown) =>
        log.warn(`The grains were not sent to the master ${address}: ${messageOf(error)}`),
      )
    }
    if (loads.size) await ((asking && loads.get(asking)) ?? firstFulfilled([...loads.values()]))
    await reported
    bus.publish(tags.pillarRefreshDone, { complete: true })
  }

  /** Log a warning for each module that overrides a built-in one, once. */
  async warnOfOverrides(): Promise<void> {
    const { loader, control, log } = this.#settings
    await control.refresh(loader)
    const sentences = (await loader.overrides()).map(({ sentence }) => sentence)
    for (const sentence of sentences) if (!this.#warned.has(sentence)) log.warn(sentence)
    this.#warned = new Set(sentences)
  }

  /** Load changed files, so that all processes of the minion use the same code from now on. */
  async reload(): Promise<void> {
    const { loader, facts, pool, bus, onChange } = this.#settings
    await loader.reload()
    await this.warnOfOverrides()
    await facts.reloadMatchers()
    pool.refresh()
    onChange()
    bus.publish(tags.moduleRefreshDone, { complete: true })
  }

  /** Fetch the pillar. The request carries the grains, which the master keeps. */
  async loadPillar(connection: MasterConnection): Promise<void> {
    const { config, facts, pool, onChange } = this.#settings
    const pillar = await fetchPillar(connection, config, facts.grains)
    if (isDeepStrictEqual(pillar, facts.pillar)) return
    facts.pillar = pillar
    pool.refresh() // its processes have the previous pillar
    onChange()
  }

  /** Sync extensions from the first master before the minion is reported as started, but wait only for a limited time. */
  async #autoload(connection: MasterConnection): Promise<void> {
    const { config, sync, log } = this.#settings
    if (!config.autoload_dynamic_modules || this.#autoloaded) return
    this.#autoloaded = true
    const synced = sync(connection).catch((error: unknown) =>
      log.warn(`Extensions were not synced: ${messageOf(error)}`),
    )
    await endsWithin(synced, AUTOLOAD_MS)
  }
}
