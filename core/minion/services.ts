import type { Job, Log, MinionServices } from '../author/context.ts'
import type { SyncReport } from '../author/files.ts'
import { preferredMaster } from '../channel/request-channel.ts'
import type { MinionConfig } from '../config/index.ts'
import type { ReturnSpool } from '../jobs/return-spool.ts'
import { makeMinionEvent } from '../wire/minion-event.ts'
import type { CachedReturns } from './cached-returns.ts'
import type { Datastore } from './datastore.ts'
import { createFileServices } from './files.ts'
import type { ProcTable } from './jobs/proc-table.ts'
import type { MasterConnection } from './link/master-connection.ts'

export interface ServicesSettings extends Pick<MinionServices, 'files' | 'sync'> {
  readonly id: string
  readonly procs: ProcTable
  readonly spool: ReturnSpool
  readonly cached: CachedReturns
  readonly datastore: Datastore
  /** Fire an event on the minion's own bus. */
  fire(tag: string, data: object): Promise<void>
  /** Send a request to the master that published the job. */
  request(load: Readonly<Record<string, unknown>>): Promise<unknown>
  /** Send a request to all masters. Resolves with the first answer. */
  sendToMasters(load: Readonly<Record<string, unknown>>): Promise<unknown>
  /** Resolves with false if there is no minion whose modules are reloaded. */
  refreshModules(): Promise<boolean>
  /** Resolves with false if there is no minion whose grains are collected. */
  refreshGrains(): Promise<unknown>
}

/** Create the services of the minion that modules use (`context.minion`). */
export function createMinionServices(settings: ServicesSettings): MinionServices {
  const { procs, spool, cached, id } = settings
  return {
    async fire(tag, data) {
      await settings.fire(tag, data)
      return true
    },
    async fireMaster(tag, data, options = {}) {
      return settings.sendToMasters(makeMinionEvent(id, { tag, data }, options)).then(
        (answer) => answer === null,
        () => false,
      )
    },
    request: settings.request,
    async running() {
      const returning = spool.pending().filter(({ jid }) => !procs.get(jid))
      return [
        ...procs.running().map(({ job, process, isReturning }) => {
          return {
            ...job,
            ...(process ? { pid: process.pid } : { state: isReturning ? 'returning' : 'queued' }),
          } as Job
        }),
        ...returning.map((entry) => ({ ...entry.job, state: 'returning' }) as unknown as Job),
      ]
    },
    async signalJob(jid, signal, { grace = 0 } = {}) {
      const entry = procs.get(jid)
      if (!entry || entry.isReturning) return ''
      try {
        entry.stop(signal, grace * 1000)
        return entry.process
          ? `Signal ${signal} sent to job ${jid} at pid ${entry.process.pid}`
          : `Job ${jid} was waiting for its turn and will not run`
      } catch {
        return `Job ${jid} was not running and job data has been cleaned up`
      }
    },
    async cancelJob(jid) {
      const entry = procs.get(jid)
      if (!entry || entry.process || entry.isReturning) return false
      entry.stop(0)
      return true
    },
    refreshModules: () => settings.refreshModules(),
    refreshGrains: async () => (await settings.refreshGrains()) !== false,
    async clearJobCache(hours) {
      await cached.clear(hours)
      return true
    },
    async findCachedJob(jid) {
      return spool.find(jid) ?? (await cached.find(jid)) ?? null
    },
    readData: async () => settings.datastore.read(),
    dataKeys: async () => settings.datastore.keys(),
    changeData: (change) => settings.datastore.change(change),
    files: settings.files,
    sync: settings.sync,
  }
}

export interface ConnectionServicesSettings
  extends Pick<
    ServicesSettings,
    'procs' | 'spool' | 'cached' | 'datastore' | 'fire' | 'sendToMasters' | 'refreshModules'
  > {
  readonly config: MinionConfig
  readonly log: Log
  grains(): Readonly<Record<string, unknown>>
  refreshGrains(connection: MasterConnection): Promise<void>
}

/**
 * Create services for jobs of one master: requests and files go to that master. `master` is its name, if there are several behind the
 * connection.
 */
export function createConnectionServices(
  connection: MasterConnection,
  settings: ConnectionServicesSettings,
  master?: string,
): MinionServices {
  const to = preferredMaster(master)
  const request: ServicesSettings['request'] = (load) => connection.request(load, to)
  const forConnection = { ...settings, request, refreshGrains: () => settings.refreshGrains(connection) }
  const files = createFileServices({ ...forConnection, grains: settings.grains() })
  return createMinionServices({ ...forConnection, ...files, id: settings.config.id })
}

/** Fetch the extensions of a master, without importing them to check that they load. */
export function syncExtensionsOf(
  connection: MasterConnection,
  settings: ConnectionServicesSettings,
): Promise<SyncReport> {
  const refreshGrains = () => settings.refreshGrains(connection)
  const request: ServicesSettings['request'] = (load) => connection.request(load)
  return createFileServices({
    ...settings,
    grains: settings.grains(),
    request,
    refreshGrains,
    unseen: true,
  }).sync({})
}
