import type { Log } from '../../author/context.ts'
import { fileProblem } from '../../base/files/file-problem.ts'
import { onceInAWhile } from '../../base/once-in-a-while.ts'
import { connections } from '../../cache/connected.ts'
import type { MinionData } from '../../cache/minion-data.ts'
import type { MinionStarts } from '../../cache/minion-starts.ts'
import { connectedFile, minionDataDirectory } from '../../config/cachedir.ts'
import type { MasterConfig } from '../../config/index.ts'
import type { KeyStore } from '../../keys/key-store.ts'
import type { PublishServer } from '../../transport/contract.ts'
import { logDamageTo } from '../supervision/directories.ts'
import { NOBODY, RunTopics } from './connected-runs.ts'
import { DuplicateMinions, duplicateMessage } from './duplicate-minions.ts'
import { Presence, type PresenceSettings } from './presence.ts'
import { grainAddresses, remoteAddresses } from './remote-addresses.ts'

/** Maximum interval at which the connected minions are listed. */
const MAX_INTERVAL_SECONDS = 5

export interface MinionWatchSettings {
  readonly config: MasterConfig
  readonly log: Log
  readonly keys: Pick<KeyStore, 'minions'>
  readonly server: PublishServer
  /** Fire an event on the bus of the master. */
  readonly fire: PresenceSettings['fire']
}

export interface MinionWatch {
  readonly presence: Presence
  close(): Promise<void>
}

/** Watch which minions are connected to the publish port, and whether two of them have the same id. */
export async function openMinionWatch(settings: MinionWatchSettings): Promise<MinionWatch> {
  const { config, log, keys, server, fire } = settings
  const stores = lazyStores(config, log)
  let connected = NOBODY
  let runTopics: RunTopics | undefined
  async function readConnected(): Promise<void> {
    const { topics } = server
    if (topics.size > 0 && !runTopics) {
      const starts = await stores.starts()
      runTopics = new RunTopics((token) => starts.idOf(token))
    }
    connected = runTopics?.read(topics) ?? NOBODY
  }
  const duplicates = new DuplicateMinions({
    acceptedIds: () => keys.minions(),
    runs: () => connected.runs,
    startsOf: async (id) => (await stores.starts()).of(id),
    report: (id, starts) => log.error(duplicateMessage(id, starts)),
    elapsed: () => performance.now(),
  })
  const presence = new Presence({
    acceptedIds: () => keys.minions(),
    topics: () => connected.topics,
    subscribers: () => server.subscribers,
    byAddress: async (ids) => {
      const minions = await stores.data()
      const peers = await remoteAddresses(server.port)
      return ids.filter((id) => grainAddresses(minions.grains(id)).some((address) => peers.has(address)))
    },
    fire,
    ...(config.refuse_second_minion && {
      runs: async (ids) => Object.fromEntries(ids.map((id) => [id, connected.runs.get(id) ?? []])),
    }),
    file: connectedFile(config),
    previous: await connections(config),
    elapsed: () => performance.now(),
    events: config.presence_events,
  })
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
    setInterval(update, 1000 * Math.min(config.loop_interval, MAX_INTERVAL_SECONDS)),
    setInterval(() => presence.announce(), 1000 * config.loop_interval),
  ]
  return {
    presence,
    async close() {
      for (const timer of timers) clearInterval(timer)
      await updating
      await stores.close()
    },
  }
}

/**
 * Return the stores about minions, which are opened on first use: grains only for minions of Python Salt, which are recognized by their
 * addresses, and starts only for minions of salt-ts, which report them.
 */
function lazyStores(config: MasterConfig, log: Log) {
  let data: MinionData | undefined
  let starts: MinionStarts | undefined
  const options = { onDamage: logDamageTo(log) }
  return {
    async data(): Promise<MinionData> {
      const { MinionData } = await import('../../cache/minion-data.ts')
      data ??= MinionData.open(minionDataDirectory(config), options)
      return data
    },
    async starts(): Promise<MinionStarts> {
      const { MinionStarts } = await import('../../cache/minion-starts.ts')
      starts ??= MinionStarts.open(minionDataDirectory(config), options)
      return starts
    },
    async close(): Promise<void> {
      await data?.close()
      await starts?.close()
    },
  }
}
