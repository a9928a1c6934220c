/**
 * Entry of the process of one returner. It writes the items for this returner in the outboxes to the store. Libraries of stores
 * and users' returners are loaded only in this process.
 */
import { Disposer } from '../base/disposer.ts'
import { messageOf } from '../base/errors.ts'
import { isJid } from '../base/jid.ts'
import { decode } from '../codec/index.ts'
import { maskingLog, openLoader } from '../loader/index.ts'
import { createRelayLog } from '../log/relay.ts'
import { connectParent, ignoreSignals } from '../process/parent.ts'
import { isTraced, jobTracer } from '../tracing/index.ts'
import type { FromReturnerProcess, ToReturnerProcess } from './messages.ts'
import { checkReturner, type ReturnerHost } from './open-returner.ts'
import { Outbox, type QueueEntry } from './outbox.ts'
import { targetFrom } from './outbox-target.ts'
import { ReturnerWriter } from './returner-writer.ts'

/** Time for the current write after the parent has ended. */
const LAST_MS = 2_000
/** Time without messages after which this process ends. */
const IDLE_MS = 600_000

const parent = connectParent<ToReturnerProcess, FromReturnerProcess>({
  onMessage,
  onGone: () => {
    setTimeout(() => process.exit(1), LAST_MS)
    void stop()
  },
})
const send = (message: FromReturnerProcess): void => void parent.send(message)

const log = maskingLog(createRelayLog((line) => send({ type: 'log', line }), 'ReturnerProcess'))

const disposer = new Disposer()
let host: ReturnerHost | undefined
let writer: ReturnerWriter | undefined
let isOfMinion = false

function start(given: Extract<ToReturnerProcess, { type: 'start' }>): void {
  const { name, config, gather = {} } = given
  process.title = `salt returner ${name}`
  isOfMinion = given.grains !== undefined
  const facts = (bytes: Uint8Array | undefined) =>
    (bytes ? decode(bytes) : {}) as Readonly<Record<string, unknown>>
  const [grains, pillar] = [facts(given.grains), facts(given.pillar)]
  host = { loader: openLoader('returners', { config, grains, log }), config, places: [grains, pillar], log }
  writer = new ReturnerWriter({
    name,
    outboxes: given.outboxes.map((file) =>
      disposer.own(Outbox.at(file, { onDamage: (error) => log.error(error.message) })),
    ),
    host,
    log,
    ...given.times,
    gather: (target) => gather[target],
    onState: (state) => send({ type: 'state', state }),
    onTried: (entries, error) => {
      if (error === undefined && isTraced()) void traceWrites(entries, name)
      const jids = entries.flatMap(({ item }) => (item.kind === 'return' ? [String(item.ret.jid)] : []))
      if (jids.length > 0) send({ type: 'tried', jids, ...(error !== undefined && { error }) })
    },
  })
  disposer.own(writer)
  send({ type: 'ready' })
}

/** Record a span for each written return, from the time it was added to the outbox. On a minion its parent is the job. */
async function traceWrites(entries: readonly QueueEntry[], returner: string): Promise<void> {
  const tracer = await jobTracer()
  for (const { item, since: start } of entries) {
    if (item.kind !== 'return' || !isJid(item.ret.jid)) continue
    const { jid, id, fun } = item.ret
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

function onMessage(message: ToReturnerProcess): void {
  idle.refresh()
  if (message.type === 'start') start(message)
  else if (message.type === 'wake') writer?.wake()
  else if (message.type === 'stop') void stop()
  else
    void refusalOf(message.target).then((refusal) =>
      send({ type: 'checked', check: message.check, ...(refusal !== undefined && { refusal }) }),
    )
}
ignoreSignals()
process.on('unhandledRejection', (error) =>
  log.error(`Unhandled promise rejection in a returner: ${messageOf(error)}`),
)
