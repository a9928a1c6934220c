/** Entry of the publisher process: the publish port 4505 and the event bus of the master. */
import type { Log } from '../../author/context.ts'
import { readIntroduction } from '../../channel/introduction.ts'
import { BROADCAST_TOPIC, minionTopic, SYNDIC_TOPIC } from '../../channel/publish-channel.ts'
import { eventOutboxDirectory } from '../../config/cachedir.ts'
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
import { EventSink, eventTargets } from './event-sink.ts'
import { applyEventSocketAccess, eventSocketAccess } from './event-socket-access.ts'
import { openMinionWatch } from './minion-watch.ts'
import { openPublisher, publishAll } from './publisher.ts'

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
  const minions = await openMinionWatch({
    config,
    log,
    keys,
    server: publisher.server,
    fire: (tag, data) => events.publish(tag, data),
  })
  if (meter) {
    meterEventBus(meter, events)
    registerPublisherMetrics(meter, {
      server: publisher.server,
      presence: minions.presence,
      keys,
    })
  }
  return {
    rotated: () => publisher.channel.keyRotated(),
    fire: (tag, data) => events.publish(tag, data),
    reload: (config) => applyEventSocketAccess(config, log),
    async close() {
      queue.close()
      await minions.close()
      await publisher.close()
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
