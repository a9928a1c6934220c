import type { Log, MasterServices } from '../../author/context.ts'
import type { RunningRun } from '../../author/master.ts'
import { currentUser } from '../../base/current-user.ts'
import { connectedToCluster } from '../../cache/connected.ts'
import type { MinionData } from '../../cache/minion-data.ts'
import { minionDataDirectory } from '../../config/cachedir.ts'
import type { MasterConfig } from '../../config/index.ts'
import { localFileServer, openFileClient, syncExtensions } from '../../fileserver/index.ts'
import { ExternalJobs } from '../../jobs/external-jobs.ts'
import type { JobCache } from '../../jobs/job-cache.ts'
import { KeyStore, type Operator } from '../../keys/index.ts'
import { runningRuns } from '../../runs/running-runs.ts'
import { defaultTargetType } from '../../targets/index.ts'
import type { LocalClient } from '../local/local-client.ts'
import { createJobArchive } from './job-archive.ts'
import { killRun } from './kill-run.ts'
import { createAccessAdmin } from './master-access.ts'
import { createAuditAdmin } from './master-audit.ts'
import { createMasterCache } from './master-cache.ts'
import { openCalls } from './master-call.ts'
import { writeConfig } from './master-config-file.ts'
import { createKeyAdmin } from './master-keys.ts'
import { createMineAdmin } from './master-mine.ts'
import { matchTarget } from './master-target.ts'
import { createTokenAdmin } from './master-tokens.ts'
import { createReturnerAdmin } from './returner-admin.ts'
import { runJobForRunner } from './run-job.ts'
import { storedJobs } from './stored-jobs.ts'
import { unreturned } from './unreturned.ts'
import { waitingJobs } from './waiting-jobs.ts'

export interface ServicesSettings {
  readonly config: MasterConfig
  readonly log: Log
  /** Connects on first use; a runner that only reads the job cache needs no running master. */
  client(): Promise<LocalClient>
  /** The operator to record for changes of keys. */
  readonly operator?: Operator | undefined
  /** Aborted with the reason when the runner that uses the services has to end. */
  readonly signal?: AbortSignal
  /** Report progress of that runner. */
  progress?(data: Readonly<Record<string, unknown>>): Promise<void>
  /** The stores, if this process has them open already: it must not open them twice. */
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

/** Create what runners can use of the master's host (`context.master`). Stores are opened on first use. */
export function createMasterServices(settings: ServicesSettings): OpenServices {
  const { config, log, client, signal = new AbortController().signal, progress = async () => {} } = settings
  const { jobs, minions, banks, mine, close } = lateStores(settings)
  const keys = new KeyStore(config.pki_dir, config.api_clients)
  const outside = new ExternalJobs(config, log)
  const local = localFileServer(config, log)
  const acceptedIds = () => keys.minions()

  const services: MasterServices = {
    run: ((request) => runJobForRunner(request, client, signal)) as MasterServices['run'],
    fire: async (tag, body) => {
      const { events } = await client()
      await events.fire(tag, body)
      return true
    },
    async *events(prefix, signal) {
      const onGap = (missed: number | undefined) => log.warn(gapSentence(missed))
      yield* (await client()).events.subscribe(prefix, signal, { onGap })
    },
    jobs: {
      ...storedJobs(jobs, outside),
      ...waitingJobs(jobs),
      archive: createJobArchive(jobs),
      unreturned: async (jid) =>
        unreturned(jid, { config, jobs: await jobs(), accepted: await keys.minions(), client }),
    },
    returners: createReturnerAdmin(config, log, jobs),
    progress,
    match: async (tgt, tgt_type = defaultTargetType(tgt), { delimiter } = {}) => {
      const target = { tgt, tgt_type, ...(delimiter && { delimiter }) }
      return matchTarget(target, { config, log, acceptedIds: await acceptedIds(), data: await minions() })
    },
    call: openCalls(config, log, signal),
    running: () => otherRuns(config),
    killRun: (jid) => killRun(config, jid),
    cache: createMasterCache({ minions, banks }),
    mine: createMineAdmin(mine),
    keys: createKeyAdmin(config, log, settings.operator ?? { user: currentUser() }),
    tokens: createTokenAdmin(config),
    access: createAccessAdmin(config, log, { acceptedIds, minions }),
    audit: createAuditAdmin(config, log),
    writeConfig: (...given) => writeConfig(config, ...given),
    batches: {
      async *list() {
        yield* (await jobs()).batches.list()
      },
      get: async (jid) => (await jobs()).batches.status(jid),
      stop: async (jid) => (await jobs()).batches.stop(jid, 'Batch run stopped on request.'),
    },
    acceptedIds,
    cachedGrains: async (id) => (await minions()).grains(id),
    connectedIds: () => connectedToCluster(config),
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

  return { services, close: async () => void (await Promise.all([close(), outside.close()])) }
}

/** Open each store on first use. Stores of a master in this process are not closed here. */
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
    const { openJobCache } = await import('../../jobs/open-job-cache.ts')
    return openJobCache(config)
  })
  const minions = late(async () => {
    const { MinionData } = await import('../../cache/minion-data.ts')
    return MinionData.open(directory)
  })
  return {
    mine: late(async () => {
      const { Mine } = await import('../../cache/mine.ts')
      return Mine.open(directory)
    }),
    jobs: stores ? async () => stores.jobs : jobs,
    minions: stores ? async () => stores.minions : minions,
    banks: late(async () => {
      const { BankCache } = await import('../../cache/bank-cache.ts')
      return BankCache.open(directory)
    }),
    close: async () => void (await Promise.all(opened.map((store) => store.close()))),
  }
}

/** Return all runs but that of this process. */
async function otherRuns(config: MasterConfig): Promise<RunningRun[]> {
  const others = (await runningRuns(config)).filter(({ pid }) => pid !== process.pid)
  return others.map(({ jid, fun, user, owner, pid, fun_args }) => ({
    jid,
    fun,
    user,
    pid,
    fun_args,
    ...(owner !== undefined && { owner }),
  }))
}

const gapSentence = (missed: number | undefined): string =>
  missed === undefined
    ? 'The event bus was down for a while, as when the master is restarted: events of that time were missed.'
    : `${missed} events were missed, because they came faster than they were read.`
