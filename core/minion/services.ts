import type { Job, MinionServices } from '../author/context.ts'
import type { CachedReturns } from '../jobs/cached-returns.ts'
import type { Datastore } from '../jobs/datastore.ts'
import type { ReturnSpool } from '../jobs/return-spool.ts'
import { makeMinionEvent } from '../wire/minion-event.ts'
import type { ProcTable } from './proc-table.ts'

export interface ServicesSettings extends Pick<MinionServices, 'files' | 'sync'> {
  readonly id: string
  readonly procs: ProcTable
  readonly spool: ReturnSpool
  readonly cached: CachedReturns
  readonly datastore: Datastore
  /** Fire an event on the minion's own bus. */
  fire(tag: string, data: object): Promise<void>
  /** Ask the master whose job it is. */
  request(load: Readonly<Record<string, unknown>>): Promise<unknown>
  /** Send something to all masters; gives the first answer. */
  tellMasters(load: Readonly<Record<string, unknown>>): Promise<unknown>
  refreshModules(): Promise<void>
  refreshGrains(): Promise<void>
}

/** What modules may ask of the minion (`context.minion`). */
export function createServices(settings: ServicesSettings): MinionServices {
  const { procs, spool, cached, id } = settings
  return {
    async fire(tag, data) {
      await settings.fire(tag, data)
      return true
    },
    async fireMaster(tag, data, options = {}) {
      return settings.tellMasters(makeMinionEvent(id, { tag, data }, options)).then(
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
    async refreshModules() {
      await settings.refreshModules()
      return true
    },
    async refreshGrains() {
      await settings.refreshGrains()
      return true
    },
    async clearJobCache(hours) {
      await cached.clear(hours)
      return true
    },
    async findCachedJob(jid) {
      return spool.find(jid) ?? (await cached.find(jid)) ?? null
    },
    readData: async () => settings.datastore.read(),
    changeData: (change) => settings.datastore.change(change),
    files: settings.files,
    sync: settings.sync,
  }
}
