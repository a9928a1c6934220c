import type { Job, MinionServices } from '../author/context.ts'
import type { EventPublisher } from '../events/index.ts'
import type { ReturnSpool } from '../jobs/return-spool.ts'
import type { ProcTable } from './proc-table.ts'

export interface ServicesSettings {
  readonly id: string
  readonly procs: ProcTable
  readonly spool: ReturnSpool
  readonly bus: EventPublisher | undefined
  request(load: Readonly<Record<string, unknown>>): Promise<unknown>
  refreshModules(): void
  refreshGrains(): Promise<void>
}

/** What modules may ask of the minion (`context.minion`). */
export function createServices(settings: ServicesSettings): MinionServices {
  const { procs, spool, bus, id } = settings
  return {
    async fire(tag, data) {
      bus?.publish(tag, data as Record<string, unknown>)
      return bus !== undefined
    },
    async fireMaster(tag, data, options = {}) {
      const { pretag = null } = options
      const load = { id, tag, data, pretag, cmd: '_minion_event' }
      return settings.request(load).then(
        (answer) => answer === null,
        () => false,
      )
    },
    request: settings.request,
    async running() {
      const returning = spool.pending().filter(({ jid }) => !procs.get(jid))
      return [
        ...procs.running().map(({ job, pid }) => ({ ...job, pid }) as Job),
        ...returning.map((entry) => ({ ...entry.job, state: 'returning' }) as unknown as Job),
      ]
    },
    async signalJob(jid, signal) {
      const entry = procs.get(jid)
      if (!entry) return ''
      try {
        process.kill(-entry.pid, signal)
        return `Signal ${signal} sent to job ${jid} at pid ${entry.pid}`
      } catch {
        return `Job ${jid} was not running and job data has been cleaned up`
      }
    },
    async refreshModules() {
      settings.refreshModules()
      return true
    },
    async refreshGrains() {
      await settings.refreshGrains()
      return true
    },
    async clearJobCache() {
      return true
    },
    async findCachedJob(jid) {
      return spool.find(jid) ?? null
    },
  }
}
