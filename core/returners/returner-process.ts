/**
 * Entry of the process of one returner: writes what is in outboxes for it to its store. The libraries of stores, and
 * returners of users, are loaded here and nowhere else.
 */
import { Disposer } from '../base/disposer.ts'
import { messageOf } from '../base/errors.ts'
import { decode } from '../codec/index.ts'
import { isJid } from '../jobs/jid.ts'
import { Outbox, type QueuedParcel } from '../jobs/outbox.ts'
import { targetFrom } from '../jobs/outbox-target.ts'
import { openLoader } from '../loader/index.ts'
import { lineLog } from '../log/line.ts'
import { isTraced, jobTracer } from '../tracing/index.ts'
import { Deliveries } from './deliveries.ts'
import type { FromReturnerProcess, ToReturnerProcess } from './messages.ts'
import { checkReturner, type ReturnerHost } from './open-returner.ts'

/** Without its parent, what is being written may take so long. Milliseconds. */
const LAST_MS = 2_000
/** With nothing to write for so long it ends. */
const IDLE_MS = 600_000

const send = (message: FromReturnerProcess): void => {
  if (process.connected) process.send?.(message)
}

const log = lineLog((line) => send({ type: 'log', line }), 'ReturnerProcess')

const disposer = new Disposer()
let host: ReturnerHost | undefined
let deliveries: Deliveries | undefined
let isOfMinion = false

function start(given: Extract<ToReturnerProcess, { type: 'start' }>): void {
  const { name, config, gather = {} } = given
  process.title = `salt returner ${name}`
  isOfMinion = given.grains !== undefined
  const facts = (bytes: Uint8Array | undefined) =>
    (bytes ? decode(bytes) : {}) as Readonly<Record<string, unknown>>
  const [grains, pillar] = [facts(given.grains), facts(given.pillar)]
  host = { loader: openLoader('returners', { config, grains, log }), config, places: [grains, pillar], log }
  deliveries = new Deliveries({
    name,
    outboxes: given.outboxes.map((file) =>
      disposer.own(Outbox.at(file, { onDamage: (error) => log.error(error.message) })),
    ),
    host,
    log,
    ...given.times,
    gather: (target) => gather[target],
    onState: (state) => send({ type: 'state', state }),
    onTried: (parcels, error) => {
      if (error === undefined && isTraced()) void traceWrites(parcels, name)
      const jids = parcels.flatMap(({ parcel }) => (parcel.kind === 'return' ? [String(parcel.ret.jid)] : []))
      if (jids.length > 0) send({ type: 'tried', jids, ...(error !== undefined && { error }) })
    },
  })
  disposer.own(deliveries)
  send({ type: 'ready' })
}

/** From when each was put into the outbox; a minion's is under its job, as it does not see its master storing it. */
async function traceWrites(parcels: readonly QueuedParcel[], returner: string): Promise<void> {
  const tracer = await jobTracer()
  for (const { parcel, since: start } of parcels) {
    if (parcel.kind !== 'return' || !isJid(parcel.ret.jid)) continue
    const { jid, id, fun } = parcel.ret
    const about = { part: 'write', jid, fun, minion: String(id), returner, start } as const
    tracer?.note(isOfMinion ? { ...about, under: 'job' } : about)
  }
}

async function refusalOf(target: string): Promise<string | undefined> {
  try {
    if (host) await checkReturner(targetFrom(target), host)
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}

const idle = setTimeout(() => void stop(), IDLE_MS)

async function stop(): Promise<void> {
  await disposer.close()
  await (await jobTracer())?.flush()
  process.exit(0)
}

process.on('message', (message: ToReturnerProcess) => {
  if (message.type !== 'ping') idle.refresh()
  if (message.type === 'start') start(message)
  else if (message.type === 'wake') deliveries?.look()
  else if (message.type === 'ping') send({ type: 'pong' })
  else if (message.type === 'stop') void stop()
  else
    void refusalOf(message.target).then((refusal) =>
      send({ type: 'checked', check: message.check, ...(refusal !== undefined && { refusal }) }),
    )
})
process.on('disconnect', () => {
  setTimeout(() => process.exit(1), LAST_MS)
  void stop()
})
process.stderr.on('error', () => {}) // the daemon has ended, and nobody reads it
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})
process.on('SIGHUP', () => {})
process.on('unhandledRejection', (error) =>
  log.error(`A promise of a returner was rejected unseen: ${messageOf(error)}`),
)
