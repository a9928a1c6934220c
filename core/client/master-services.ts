import type { Log, MasterServices, StoredJob, StoredReturn } from '../author/context.ts'
import { currentUser } from '../base/current-user.ts'
import type { MasterConfig } from '../config/index.ts'
import type { EventBus } from '../events/index.ts'
import { localFileServer, openFileClient, syncExtensions } from '../fileserver/index.ts'
import { connectedIds } from '../jobs/connected.ts'
import type { JobCache } from '../jobs/job-cache.ts'
import { type JobStatus, sentenceOf } from '../jobs/job-states.ts'
import type { MinionData } from '../jobs/minion-data.ts'
import { jobCacheDirectory, minionDataDirectory } from '../jobs/paths.ts'
import { runningRuns } from '../jobs/running-runs.ts'
import { KeyStore, type Operator } from '../keys/index.ts'
import type { LocalClient } from './local-client.ts'
import { createMasterCache } from './master-cache.ts'
import { openCalls } from './master-call.ts'
import { writeConfig } from './master-config-file.ts'
import { createKeyAdmin } from './master-keys.ts'
import { matchTarget } from './master-target.ts'
import { unreturned } from './unreturned.ts'

export interface ServicesSettings {
  readonly config: MasterConfig
  readonly log: Log
  /** Connects on first use; a runner that only reads the job cache needs no running master. */
  client(): Promise<LocalClient>
  /** Who is written down for changes of keys. */
  readonly operator?: Operator | undefined
  /** Of the runner the services are for. */
  progress?(data: Readonly<Record<string, unknown>>): Promise<void>
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
export function createMasterServices(settings: ServicesSettings): OpenServices {
  const { config, log, client, progress = async () => {} } = settings
  const { jobs, minions, banks, close } = lateStores(settings)
  const keys = new KeyStore(config.pki_dir)
  const local = localFileServer(config, log)
  const acceptedIds = () => keys.list('accepted')

  const services: MasterServices = {
    async *run(request) {
      const { arg, kwarg, tgtType, timeout, gatherJobTimeout, ret, jid } = request
      const run = await (await client()).cmdIter({
        tgt: request.tgt,
        fun: request.fun,
        check: false, // a runner reads the refusal of each minion in its return
        ...(arg && { arg }),
        ...(kwarg && { kwarg }),
        ...(ret && { ret }),
        ...(jid && { jid }),
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
      unreturned: async (jid) => {
        const look = { config, jobs: await jobs(), accepted: await keys.list('accepted'), client }
        const statuses: [string, JobStatus][] = []
        for (const job of [jid, ...look.jobs.waves(jid)]) statuses.push(...(await unreturned(job, look)))
        return statuses.map(([id, status]) => ({ id, state: status.state, reason: sentenceOf(status) }))
      },
      async *list(options = {}) {
        for (const job of (await jobs()).list(options)) yield job as StoredJob
      },
    },
    progress,
    match: async (tgt, tgt_type = 'glob', { delimiter } = {}) => {
      const target = { tgt, tgt_type, ...(delimiter && { delimiter }) }
      return matchTarget(target, { config, log, acceptedIds: await acceptedIds(), data: await minions() })
    },
    call: openCalls(config, log),
    running: () => runningRuns(config),
    cache: createMasterCache({ minions, banks }),
    keys: createKeyAdmin(config, log, settings.operator ?? { user: currentUser() }),
    writeConfig: (...given) => writeConfig(config, ...given),
    batches: {
      async *list() {
        yield* (await jobs()).batches.list()
      },
      get: async (jid) => (await jobs()).batches.status(jid),
      stop: async (jid) => (await jobs()).batches.askStop(jid),
    },
    acceptedIds,
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

  return { services, close }
}

/** Each is opened when it is asked for first. Those of a master in this process are not ours to close. */
function lateStores({ config, stores }: ServicesSettings) {
  const opened: { close(): Promise<void> }[] = []
  const late = <T extends { close(): Promise<void> }>(open: () => Promise<T>) => {
    let store: Promise<T> | undefined
    return () => {
      store ??= open().then((one) => {
        opened.push(one)
        return one
      })
      return store
    }
  }
  const directory = minionDataDirectory(config)
  const jobs = late(async () => {
    const { JobCache } = await import('../jobs/job-cache.ts')
    return JobCache.open(jobCacheDirectory(config))
  })
  const minions = late(async () => {
    const { MinionData } = await import('../jobs/minion-data.ts')
    return MinionData.open(directory)
  })
  return {
    jobs: stores ? async () => stores.jobs : jobs,
    minions: stores ? async () => stores.minions : minions,
    banks: late(async () => {
      const { BankCache } = await import('../jobs/bank-cache.ts')
      return BankCache.open(directory)
    }),
    close: async () => void (await Promise.all(opened.map((store) => store.close()))),
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
