/** Entry of the process of one engine: loads it and runs it until it ends or is told to. */

import type { Log } from '../author/context.ts'
import type { EngineEvents, EnginePlugin } from '../author/engine.ts'
import { messageOf, traceOf } from '../base/errors.ts'
import { decode } from '../codec/index.ts'
import type { MasterConfig, MinionConfig } from '../config/index.ts'
import { EventBus, masterEventSockets, minionEventSockets, tags } from '../events/index.ts'
import { openLoader } from '../loader/index.ts'
import { lineLog } from '../log/line.ts'
import { engineOptions } from './engine-options.ts'
import type { EngineStart, FromEngine, ToEngine } from './messages.ts'

/** An engine whose daemon is gone has so long to end. Milliseconds. */
const LAST_MS = 2_000

const ending = new AbortController()

/** Resolves when the message has left this process. */
function send(message: FromEngine): Promise<void> {
  return new Promise((resolve) => {
    if (process.connected) process.send?.(message, () => resolve())
    else resolve()
  })
}

async function end(message: FromEngine): Promise<never> {
  if (!ending.signal.aborted) await send(message)
  process.exit(message.type === 'ended' && !ending.signal.aborted ? 1 : 0)
}

async function run(given: EngineStart): Promise<void> {
  const { name, role, id, config } = given
  const log = lineLog((line) => void send({ type: 'log', line }), `Engine(${name})`)
  process.title = `salt-${role} engine ${name}`
  const grains = decode(given.grains) as Readonly<Record<string, unknown>>
  const loader = openLoader('engines', { config, grains, log })
  let plugin: EnginePlugin
  let options: Record<string, unknown>
  try {
    plugin = await loader.plugin<EnginePlugin>(given.plugin)
    options = engineOptions(plugin, given)
  } catch (error) {
    return end({ type: 'refused', reason: messageOf(error) })
  }
  try {
    const bus = await openBus(given)
    const facts = { options, role, id, opts: config, grains, log, signal: ending.signal }
    await plugin.start({ ...facts, events: eventsOf(bus, role, log) })
    await end({ type: 'ended', reason: 'it returned' })
  } catch (error) {
    await end({ type: 'ended', reason: traceOf(error) })
  }
}

function openBus({ role, id, config }: EngineStart): Promise<EventBus> {
  const sockets =
    role === 'master'
      ? masterEventSockets(config as unknown as MasterConfig)
      : minionEventSockets(config as unknown as MinionConfig, id)
  return EventBus.connect({ ...sockets, maxEventSize: Number(config.max_event_size) })
}

function eventsOf(bus: EventBus, role: EngineStart['role'], log: Log): EngineEvents {
  const onGap = (missed: number | undefined) =>
    log.warn(
      missed === undefined
        ? 'The engine was cut off from the event bus for a moment, and has missed events.'
        : `The engine reads too slowly, and has missed ${missed} events.`,
    )
  const fire = (tag: string, data: object) => bus.fire(tag, data)
  return {
    listen: (prefix = '') => bus.subscribe(prefix, ending.signal, { onGap }),
    fire,
    fireMaster: role === 'master' ? fire : (tag, data) => bus.fire(tags.fireMaster, { tag, data }),
  }
}

process.on('message', (message: ToEngine) => {
  if (message.type === 'start') void run(message)
  else ending.abort()
})
process.on('disconnect', () => {
  ending.abort()
  setTimeout(() => process.exit(1), LAST_MS)
})
const fail = (error: unknown) => void end({ type: 'ended', reason: traceOf(error) })
process.on('uncaughtException', fail)
process.on('unhandledRejection', fail)
process.stderr.on('error', () => {}) // the daemon has ended, and nobody reads it
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})
process.on('SIGHUP', () => {})
