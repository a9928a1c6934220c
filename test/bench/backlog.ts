/** A master that starts with very many records in an outbox, and a store that is away. */
import { setTimeout as delay } from 'node:timers/promises'
import { Cluster } from '../harness/daemons.ts'
import { quietLog } from '../harness/log.ts'
import { freePort } from '../harness/ports.ts'
import { eventText } from './event-text.ts'
import { type ProcessUsage, usagesOf } from './processes.ts'
import { createReturnerAdmin, eventOutboxDirectory, Outbox, openJobCache } from './product.ts'

export interface BacklogFigures {
  /** Milliseconds. */
  readonly ready: number
  readonly status: number
  /** Of the returner process, bytes. */
  readonly resident: number
  readonly peak: number
  /** Records put in per second. */
  readonly rate: number
}

const AT_ONCE = 5000
const SETTLE_MS = 10_000

export async function measureBacklog(records: number): Promise<BacklogFigures> {
  const port = await freePort()
  const options = { event_return: ['postgres'], 'returner.postgres': { host: '127.0.0.1', port } }
  const cluster = await Cluster.open({ master: options })
  try {
    await cluster.master.stop()
    const filled = performance.now()
    await fill(eventOutboxDirectory(cluster.config), records)
    const rate = records / ((performance.now() - filled) / 1000)
    const started = performance.now()
    await cluster.startMaster()
    const ready = performance.now() - started
    await delay(SETTLE_MS)
    const { residentBytes, peakBytes } = returnerOf(usagesOf(cluster.master.pid))
    return { ready, status: await statusMs(cluster, records), resident: residentBytes, peak: peakBytes, rate }
  } finally {
    await cluster.close()
  }
}

async function fill(directory: string, records: number): Promise<void> {
  const outbox = Outbox.open(directory)
  const data = { jid: '20300101000000000000', fun: 'cmd.run', retcode: 0, return: eventText(0) }
  for (let n = 0; n < records; n += AT_ONCE) {
    const events = Array.from({ length: AT_ONCE }, (_, at) => ({
      kind: 'event' as const,
      tag: `salt/job/20300101000000000000/ret/sim-${at}`,
      data: { ...data, n: n + at },
    }))
    await outbox.add(['postgres'], events)
  }
  await outbox.close()
}

async function statusMs({ config }: Cluster, records: number): Promise<number> {
  const jobs = openJobCache(config)
  const admin = createReturnerAdmin(config, quietLog, async () => jobs)
  const began = performance.now()
  const [status] = await admin.status()
  const ms = performance.now() - began
  await jobs.close()
  if (!status || status.queued < records) throw new Error(`${status?.queued} of ${records} are shown`)
  return ms
}

const returnerOf = (usages: readonly ProcessUsage[]): ProcessUsage => {
  const found = usages.find(({ name }) => name.endsWith('returner'))
  if (found) return found
  throw new Error('The master has no returner process.')
}
