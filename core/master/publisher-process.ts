/** Entry of the publisher process: the publish port 4505 and the event bus of the master. */
import { fileProblem } from '../base/file-problem.ts'
import { seldom } from '../base/seldom.ts'
import { EventPublisher, masterEventSockets, readEventBus, watchEvents } from '../events/index.ts'
import type { MinionData } from '../jobs/minion-data.ts'
import type { MinionStarts } from '../jobs/minion-starts.ts'
import { connectedFile, minionDataDirectory } from '../jobs/paths.ts'
import { KeyStore } from '../keys/key-store.ts'
import { loadMasterKeys } from '../keys/master-keys.ts'
import { getNetworkTransport } from '../transport/index.ts'
import { openQueueReceiver } from '../transport/zeromq/queue.ts'
import { type ChildPart, type ChildStart, runChild } from './child.ts'
import { damageTo } from './directories.ts'
import { admitReaders, eventReaders } from './event-readers.ts'
import { publishQueue } from './paths.ts'
import { Presence } from './presence.ts'
import { openPublisher, publishAll } from './publisher.ts'
import { readPublisher } from './publisher-metrics.ts'
import { addressesOf, remoteAddresses } from './remote-addresses.ts'
import { connectedRuns, SecondMinions, twoSentence } from './second-minions.ts'

async function open({ config, aesKeys, log, meter }: ChildStart): Promise<ChildPart> {
  const stream = config.event_stream_port
    ? await (await import('./event-stream.ts')).openEventStream(config, log)
    : undefined
  const events = await EventPublisher.open({
    ...masterEventSockets(config),
    ...(await eventReaders(config, log)),
    maxEventSize: config.max_event_size,
    watch: meter && watchEvents(meter),
    ...(stream && { onBody: stream.publish }),
    log,
  })
  const { key } = await loadMasterKeys(config)
  const publisher = await openPublisher({
    config,
    transport: getNetworkTransport(config.transport),
    aesKeys,
    masterKey: key,
    log,
  })
  const queue = await openQueueReceiver(publishQueue(config))
  void publishAll(queue, publisher, log)

  const keys = new KeyStore(config.pki_dir, config.api_clients)
  let data: MinionData | undefined
  /** Only where minions of Python Salt are: others are known by their topics. */
  async function minionData(): Promise<MinionData> {
    const { MinionData } = await import('../jobs/minion-data.ts')
    data ??= MinionData.open(minionDataDirectory(config), { onDamage: damageTo(log) })
    return data
  }
  let starts: MinionStarts | undefined
  /** Only where two minions seem to have one id. */
  async function minionStarts(): Promise<MinionStarts> {
    const { MinionStarts } = await import('../jobs/minion-starts.ts')
    starts ??= MinionStarts.open(minionDataDirectory(config), { onDamage: damageTo(log) })
    return starts
  }
  const seconds = new SecondMinions({
    acceptedIds: () => keys.minions(),
    topics: () => publisher.server.topics,
    startsOf: async (id) => (await minionStarts()).of(id),
    say: (id, starts) => log.error(twoSentence(id, starts)),
    elapsed: () => performance.now(),
  })
  const presence = new Presence({
    acceptedIds: () => keys.minions(),
    topics: () => publisher.server.topics,
    subscribers: () => publisher.server.subscribers,
    byAddress: async (ids) => {
      const minions = await minionData()
      const peers = await remoteAddresses(publisher.server.port)
      return ids.filter((id) => addressesOf(minions.grains(id)).some((address) => peers.has(address)))
    },
    fire: (tag, data) => events.publish(tag, data),
    ...(config.refuse_second_minion && {
      runs: async (ids) => connectedRuns(ids, publisher.server.topics),
    }),
    file: connectedFile(config),
    events: config.presence_events,
  })
  if (meter) {
    readEventBus(meter, events)
    readPublisher(meter, { server: publisher.server, presence, keys })
  }
  const complain = seldom((sentence) => log.warn(sentence))
  let updating: Promise<void> | undefined
  function update(): void {
    updating ??= presence
      .update()
      .then(() => seconds.look())
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
    reload: (config) => admitReaders(config, log),
    async close() {
      timers.forEach(clearInterval)
      queue.close()
      await updating
      await publisher.close()
      await data?.close()
      await starts?.close()
      await events.close()
      await stream?.close()
    },
  }
}

runChild(open)
