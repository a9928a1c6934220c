/** Entry of the process of one engine. It loads the engine and runs it until the engine ends or is stopped. */

import type { Log } from '../author/context.ts'
import type { EngineEvents, EnginePlugin } from '../author/engine.ts'
import { messageOf, traceOf } from '../base/errors.ts'
import { decode } from '../codec/index.ts'
import type { MasterConfig, MinionConfig } from '../config/index.ts'
import { EventBus, masterEventSockets, minionEventSockets } from '../events/index.ts'
import { hideSecrets, maskingLog, openLoader, withoutSecrets } from '../loader/index.ts'
import { createRelayLog } from '../log/relay.ts'
import { connectParent, ignoreSignals } from '../process/parent.ts'
import { engineOptions } from './engine-options.ts'
import { fireMasterOn } from './fire-master.ts'
import type { EngineStart, FromEngine, ToEngine } from './messages.ts'

/** Time that an engine has to end after its daemon has ended. */
const STOP_MS = 2_000

const ending = new AbortController()

/** Returns an error with its stack for the log of the daemon, without the secret options of the engine. */
let shown = (error: unknown): string => traceOf(error)

const { send } = connectParent<ToEngine, FromEngine>({
  onMessage: (message) => (message.type === 'start' ? void run(message) : ending.abort()),
  onGone: () => {
    ending.abort()
    setTimeout(() => process.exit(1), STOP_MS)
  },
})

async function end(message: FromEngine): Promise<never> {
  if (!ending.signal.aborted) await send(message)
  process.exit(message.type === 'ended' && !ending.signal.aborted ? 1 : 0)
}

async function run(given: EngineStart): Promise<void> {
  const { name, role, id, config } = given
  const log = maskingLog(createRelayLog((line) => void send({ type: 'log', line }), `Engine(${name})`))
  shown = (error) => withoutSecrets(log, traceOf(error))
  process.title = `salt-${role} engine ${name}`
  const grains = decode(given.grains) as Readonly<Record<string, unknown>>
  const loader = openLoader('engines', { config, grains, log })
  let plugin: EnginePlugin
  let options: Record<string, unknown>
  try {
    plugin = await loader.plugin<EnginePlugin>(given.plugin)
    options = await engineOptions(plugin, given)
    hideSecrets(log, options, plugin.options ?? {})
  } catch (error) {
    return end({ type: 'refused', reason: messageOf(error) })
  }
  try {
    const bus = await openBus(given)
    const facts = { options, role, id, opts: config, grains, log, signal: ending.signal }
    await plugin.start({ ...facts, events: eventsOf(bus, given, log) })
    await end({ type: 'ended', reason: 'it returned' })
  } catch (error) {
    await end({ type: 'ended', reason: shown(error) })
  }
}

function openBus({ role, id, config }: EngineStart): Promise<EventBus> {
  const sockets =
    role === 'master'
      ? masterEventSockets(config as unknown as MasterConfig)
      : minionEventSockets(config as unknown as MinionConfig, id)
  return EventBus.connect(sockets)
}

function eventsOf(bus: EventBus, given: EngineStart, log: Log): EngineEvents {
  const onGap = (missed: number | undefined) =>
    log.warn(
      missed === undefined
        ? 'The engine lost its connection to the event bus for a moment and has missed events.'
        : `The engine reads too slowly and has missed ${missed} events.`,
    )
  return {
    listen: (prefix = '') => bus.subscribe(prefix, ending.signal, { onGap }),
    fire: (tag, data) => bus.fire(tag, data),
    fireMaster: fireMasterOn(bus, given),
  }
}

const fail = (error: unknown) => void end({ type: 'ended', reason: shown(error) })
process.on('uncaughtException', fail)
process.on('unhandledRejection', fail)
ignoreSignals()
