/** Entry of the publisher process: the publish port 4505 and the event bus of the master. */
import type { Log } from '../../author/context.ts'
import { fileProblem } from '../../base/files/file-problem.ts'
import { onceInAWhile } from '../../base/once-in-a-while.ts'
import { connections } from '../../cache/connected.ts'
import type { MinionData } from '../../cache/minion-data.ts'
import type { MinionStarts } from '../../cache/minion-starts.ts'
import { readIntroduction } from '../../channel/introduction.ts'
import { BROADCAST_TOPIC, minionTopic, SYNDIC_TOPIC } from '../../channel/publish-channel.ts'
import { connectedFile, eventOutboxDirectory, minionDataDirectory } from '../../config/cachedir.ts'
import { type MasterConfig, networkTransportOf } from '../../config/index.ts'
import { createEventWatch, EventPublisher, masterEventSockets, meterEventBus } from '../../events/index.ts'
import { KeyStore } from '../../keys/key-store.ts'
import { loadMasterKeys } from '../../keys/master-keys.ts'
import { openQueueReceiver } from '../../transport/zeromq/queue.ts'
import { registerPublisherMetrics } from '../metrics/publisher-metrics.ts'
import { type ChildPart, type ChildStart, runChild } from '../supervision/child.ts'
import { logDamageTo } from '../supervision/directories.ts'
import { publishQueue } from '../supervision/paths.ts'
import { queuedReport } from '../supervision/queued.ts'
import { NOBODY, RunTopics } from './connected-runs.ts'
import { DuplicateMinions, duplicateMessage } from './duplicate-minions.ts'
import { EventSink, eventTargets } from './event-sink.ts'
import { applyEventSocketAccess, eventSocketAccess } from './event-socket-access.ts'
import { Presence } from './presence.ts'
import { openPublisher, publishAll } from './publisher.ts'
import { grainAddresses, remoteAddresses } from './remote-addresses.ts'

async function open({ config, aesKeys, log, meter, supervisor }: ChildStart): Promise<ChildPart> {
  const stream = config.event_stream_port
    ? await (await import('./event-stream.ts')).openEventStream(config, log)
    : undefined
  const eventReturn =
    eventTargets(config).length > 0 ? await openEventReturn(config, log, supervisor) : undefined
  const events = await EventPublisher.open({
    ...masterEventSockets(config),
    ...(await eventSocketAccess(config, log)),
    watch: meter && createEventWatch(meter),
    onBody(tag, body) {
      stream?.publish(tag, body)
      eventReturn?.sink.take(tag, body)
    },
    ...(eventReturn && { kept: () => eventReturn.sink.stored() }),
    log,
  })
  const { key } = await loadMasterKeys(config)
  const keys = new KeyStore(config.pki_dir, config.api_clients)
  const publisher = await openPublisher({
    config,
    transport: networkTransportOf(config, log),
    aesKeys,
    masterKey: key,
    async identify(introduction) {
      const id = readIntroduction(introduction, aesKeys, (id) => keys.accepted(id))
      return id && [minionTopic(id), BROADCAST_TOPIC, ...(config.order_masters ? [SYNDIC_TOPIC] : [])]
    },
    log,
  })
  const queue = await openQueueReceiver(publishQueue(config))
  void publishAll(queue, publisher, log)

  let data: MinionData | undefined
  /** Opened only if there are minions of Python Salt: others are recognized by their topics. */
  async function minionData(): Promise<MinionData> {
    const { MinionData } = await import('../../cache/minion-data.ts')
    data ??= MinionData.open(minionDataDirectory(config), { onDamage: logDamageTo(log) })
    return data
  }
  let starts: MinionStarts | undefined
  /** Opened only if there are minions of salt-ts, which report their starts. */
  async function minionStarts(): Promise<MinionStarts> {
    const { MinionStarts } = await import('../../cache/minion-starts.ts')
    starts ??= MinionStarts.open(minionDataDirectory(config), { onDamage: logDamageTo(log) })
    return starts
  }
  let connected = NOBODY
  let runTopics: RunTopics | undefined
  async function readConnected(): Promise<void> {
    const { topics } = publisher.server
    if (topics.size > 0 && !runTopics) {
      const starts = await minionStarts()
      runTopics = new RunTopics((token) => starts.idOf(token))
    }
    connected = runTopics?.read(topics) ?? NOBODY
  }
  const duplicates = new DuplicateMinions({
    acceptedIds: () => keys.minions(),
    runs: () => connected.runs,
    startsOf: async (id) => (await minionStarts()).of(id),
    report: (id, starts) => log.error(duplicateMessage(id, starts)),
    elapsed: () => performance.now(),
  })
  const presence = new Presence({
    acceptedIds: () => keys.minions(),
    topics: () => connected.topics,
    subscribers: () => publisher.server.subscribers,
    byAddress: async (ids) => {
      const minions = await minionData()
      const peers = await remoteAddresses(publisher.server.port)
      return ids.filter((id) => grainAddresses(minions.grains(id)).some((address) => peers.has(address)))
    },
    fire: (tag, data) => events.publish(tag, data),
    ...(config.refuse_second_minion && {
      runs: async (ids) => Object.fromEntries(ids.map((id) => [id, connected.runs.get(id) ?? []])),
    }),
    file: connectedFile(config),
    previous: await connections(config),
    elapsed: () => performance.now(),
    events: config.presence_events,
  })
  if (meter) {
    meterEventBus(meter, events)
    registerPublisherMetrics(meter, { server: publisher.server, presence, keys })
  }
  const complain = onceInAWhile((sentence) => log.warn(sentence))
  let updating: Promise<void> | undefined
  function update(): void {
    updating ??= readConnected()
      .then(() => presence.update())
      .then(() => duplicates.check())
      .catch((error: unknown) =>
        complain(`Cannot list the connected minions: ${fileProblem(error)}.`, 'minions'),
      )
      .finally(() => {
        updating = undefined
      })
  }
  const timers = [
    setInterval(update, 1000 * Math.min(config.loop_interval, 5)),
    setInterval(() => presence.announce(), 1000 * config.loop_interval),
  ]

  return {
    rotated: () => publisher.channel.keyRotated(),
    fire: (tag, data) => events.publish(tag, data),
    reload: (config) => applyEventSocketAccess(config, log),
    async close() {
      timers.forEach(clearInterval)
      queue.close()
      await updating
      await publisher.close()
      await data?.close()
      await starts?.close()
      await events.close()
      await eventReturn?.close()
      await stream?.close()
    },
  }
}

/** Open what puts events into the outbox of `event_return`. Most masters do without it, and without loading it. */
async function openEventReturn(config: MasterConfig, log: Log, supervisor: ChildStart['supervisor']) {
  const { Outbox } = await import('../../outbox/outbox.ts')
  const outbox = Outbox.open(eventOutboxDirectory(config), { onDamage: logDamageTo(log) })
  const sink = new EventSink(config, { outbox, log, onQueued: queuedReport(supervisor) })
  return {
    sink,
    async close() {
      await sink.close()
      await outbox.close()
    },
  }
}

runChild(open)
