import type { Log, MasterServices, StoredJob, StoredReturn } from '../author/context.ts'
import type { MasterConfig } from '../config/index.ts'
import type { EventBus } from '../events/index.ts'
import { localFileServer, openFileClient, syncExtensions } from '../fileserver/index.ts'
import { connectedIds } from '../jobs/connected.ts'
import type { JobCache } from '../jobs/job-cache.ts'
import type { MinionData } from '../jobs/minion-data.ts'
import { jobCacheDirectory, minionDataDirectory } from '../jobs/paths.ts'
import { KeyStore } from '../keys/key-store.ts'
import type { LocalClient } from './local-client.ts'

export interface ServicesSettings {
  readonly config: MasterConfig
  readonly log: Log
  /** Connects on first use; a runner that only reads the job cache needs no running master. */
  client(): Promise<LocalClient>
  /** The stores, where this process has them open already: it must not open them twice. */
  readonly stores?: MasterStores | undefined
}

export interface MasterStores {
  readonly jobs: JobCache
  readonly minions: MinionData
}

export interface OpenServices {
  readonly services: MasterServices
  close(): Promise<void>
}

/** What runners may ask of the master's host (`context.master`). Stores are opened on first use. */
export function createMasterServices({ config, log, client, stores }: ServicesSettings): OpenServices {
  let cache: Promise<JobCache> | undefined
  let data: Promise<MinionData> | undefined
  const jobs = async () => {
    if (stores) return stores.jobs
    cache ??= import('../jobs/job-cache.ts').then(({ JobCache }) => JobCache.open(jobCacheDirectory(config)))
    return cache
  }
  const minions = async () => {
    if (stores) return stores.minions
    data ??= import('../jobs/minion-data.ts').then(({ MinionData }) =>
      MinionData.open(minionDataDirectory(config)),
    )
    return data
  }
  const keys = new KeyStore(config.pki_dir)
  const local = localFileServer(config, log)

  const services: MasterServices = {
    async *run(request) {
      const { arg, tgtType, timeout, gatherJobTimeout } = request
      const run = await (await client()).cmdIter({
        tgt: request.tgt,
        fun: request.fun,
        check: false, // a runner reads the refusal of each minion in its return
        ...(arg && { arg }),
        ...(tgtType && { tgtType }),
        ...(timeout !== undefined && { timeout }),
        ...(gatherJobTimeout !== undefined && { gatherJobTimeout }),
      })
      for await (const result of run) {
        yield result.state === 'returned'
          ? result
          : { id: result.id, return: undefined, missing: result.reason }
      }
    },
    fire: async (tag, body) => {
      const bus: EventBus = (await client()).events
      await bus.fire(tag, body)
      return true
    },
    async *events(prefix, signal) {
      const onGap = (missed: number | undefined) => log.warn(gapSentence(missed))
      yield* (await client()).events.subscribe(prefix, signal, { onGap })
    },
    jobs: {
      get: async (jid) => storedJob(await jobs(), jid),
      returns: async (jid) => {
        const cache = await jobs()
        return [jid, ...cache.waves(jid)].flatMap((job) =>
          [...cache.returns(job)].map(([id, ret]) => ({ ...ret, id }) as StoredReturn),
        )
      },
      async *list(options = {}) {
        for (const job of (await jobs()).list(options)) yield job as StoredJob
      },
    },
    batches: {
      async *list() {
        yield* (await jobs()).batches.list()
      },
      get: async (jid) => (await jobs()).batches.status(jid),
      stop: async (jid) => (await jobs()).batches.askStop(jid),
    },
    acceptedIds: () => keys.list('accepted'),
    cachedGrains: async (id) => (await minions()).grains(id),
    connectedIds: async () => [...((await connectedIds(config)) ?? [])],
    fileServer: {
      envs: async (backends) => (await local.server()).envs(backends),
      list: async (saltenv, backends) => (await local.server()).list(saltenv, backends),
      clearListCache: async (saltenv, backends) => (await local.server()).clearListCache(saltenv, backends),
    },
    sync: async (request) => {
      const files = openFileClient({ ask: local.ask, cachedir: config.cachedir })
      return syncExtensions(request, { files, config, log, role: 'master' })
    },
  }

  return {
    services,
    async close() {
      await (await cache)?.close()
      await (await data)?.close()
    },
  }
}

/** A batch is one job to who looks it up. */
function storedJob(cache: JobCache, jid: string): StoredJob | undefined {
  const stored = cache.load(jid)
  const waves = stored ? cache.waves(jid) : []
  if (!stored || waves.length === 0) return stored && { jid, ...stored }
  const minions = [jid, ...waves].flatMap((job) => cache.load(job)?.minions ?? [])
  return { jid, ...stored, minions: [...new Set(minions)], waves }
}

const gapSentence = (missed: number | undefined): string =>
  missed === undefined
    ? 'The event bus was away for a while, as when the master is restarted: events of that time were missed.'
    : `${missed} events were missed, because they came faster than they were read.`
