import { AuditLog, keyEntry } from '../../auth/audit/index.ts'
import { type Logins, openAuth } from '../../auth/index.ts'
import type { Log } from '../../author/context.ts'
import type { Clock } from '../../base/clock.ts'
import { currentUser } from '../../base/current-user.ts'
import type { Disposer } from '../../base/disposer.ts'
import { createJidSource, isJid } from '../../base/jid.ts'
import { cachedMinions } from '../../cache/cached-minions.ts'
import { Catalogues } from '../../cache/catalogues.ts'
import { Mine } from '../../cache/mine.ts'
import { MinionData } from '../../cache/minion-data.ts'
import { MinionStarts } from '../../cache/minion-starts.ts'
import { MinionsBelow } from '../../cache/minions-below.ts'
import type { AesKeys } from '../../channel/aes-keys.ts'
import { minionDataDirectory } from '../../config/cachedir.ts'
import { type MasterConfig, masterNameOf } from '../../config/index.ts'
import { FileServer } from '../../fileserver/index.ts'
import { ExternalJobs } from '../../jobs/external-jobs.ts'
import { openJobCache } from '../../jobs/open-job-cache.ts'
import { Publications } from '../../jobs/publications.ts'
import {
  derivedSessions,
  Invites,
  KeyAudit,
  KeyStore,
  loadMasterKeys,
  SessionKeys,
} from '../../keys/index.ts'
import { openLoader, shownCall } from '../../loader/index.ts'
import type { Meter } from '../../metrics/index.ts'
import { RunProcesses } from '../../runs/background.ts'
import { openMatchers } from '../../targets/open-match.ts'
import { jobTracer } from '../../tracing/index.ts'
import type { CallCheckReport } from '../../wire/catalogue.ts'
import { CallChecks } from '../preflight/call-checks.ts'
import { logDamageTo } from '../supervision/directories.ts'
import type { WorkerContext } from './context.ts'
import { ExpectedSenders } from './expected-senders.ts'
import { createKeyDecider } from './key-decisions.ts'
import { ReplayGuard } from './replay-guard.ts'
import { sharesConnections } from './shared-connections.ts'
import { SharedJobs } from './shared-jobs.ts'
import { Syndics } from './syndics.ts'
import { createWorker } from './worker.ts'

/** The environment of a worker in its process; it reaches the event bus and the publisher through these functions. */
export interface WorkerEnvironment extends Pick<WorkerContext, 'fire' | 'publish' | 'requestRotation'> {
  readonly config: MasterConfig
  readonly aesKeys: AesKeys
  readonly log: Log
  readonly clock: Clock
  /** The clock by which keys, tokens and requests expire; default: `clock`. */
  readonly steady?: Clock
  readonly meter?: Meter | undefined
  /** Pass on a minion's report for a check of another worker. */
  passOn?(id: string, report: CallCheckReport): void
  /** Counts wrong passwords of all workers; default: of this one alone. */
  readonly logins?: Logins
  /** Called when something was put into the outbox. */
  onQueued?(): void
  /** Limits the pending keys; default: that of the key store. */
  readonly maxPending?: number
}

export interface OpenWorker {
  readonly context: WorkerContext
  readonly sessions: SessionKeys
  /** Return the reply frame to a request frame. */
  answer(frame: Uint8Array): Promise<Uint8Array>
}

/** Open the stores of a master and a worker that uses them. `disposer` closes them. */
export async function openMasterWorker(
  environment: WorkerEnvironment,
  disposer: Disposer,
): Promise<OpenWorker> {
  const { config, aesKeys, log, clock, steady = clock, onQueued, logins } = environment
  const masterKeys = await loadMasterKeys(config)
  const keys = new KeyStore(config.pki_dir, config.api_clients)
  const onDamage = logDamageTo(log)
  const sessions = disposer.own(
    SessionKeys.open(config.cachedir, {
      keys,
      lifetimeSeconds: config.publish_session,
      clock: steady,
      onDamage,
      derive: sharesConnections(config) ? derivedSessions(masterKeys.key, aesKeys) : undefined,
    }),
  )
  const matcher = await openMatchers(config, log)
  const modules = openLoader('modules', { config, log })
  const functions = {
    runner: openLoader('runners', { config, log }),
    wheel: openLoader('wheel', { config, log }),
  }
  const minions = disposer.own(MinionData.open(minionDataDirectory(config), { onDamage }))
  const subjects = (ids: readonly string[]) => cachedMinions(ids, minions)
  const complain = (problem: string) => log.error(problem)
  const audit = disposer.own(AuditLog.open(config, complain))
  const { meter } = environment
  const starts = disposer.own(MinionStarts.open(minionDataDirectory(config), { onDamage }))
  const below = disposer.own(MinionsBelow.open(minionDataDirectory(config), { onDamage }))
  const jobs = disposer.own(openJobCache(config, { clock, onDamage, ...(onQueued && { onQueued }) }))
  const stores = config.cluster_id === undefined ? undefined : disposer.own(new ExternalJobs(config, log))
  const shared = stores && new SharedJobs((jid) => stores.find(jid), log)
  const runs = disposer.own(new RunProcesses(config, { ready: isAskedByApi(config) }))
  const context: WorkerContext = {
    config,
    log,
    clock,
    audit,
    meter,
    tracer: await jobTracer(),
    masterKey: masterKeys.key,
    keys,
    keyAudit: new KeyAudit(config.key_audit_log, { user: currentUser() }, complain, async (entries, who) => {
      await Promise.all(entries.map((entry) => audit.record(keyEntry(entry, who))))
    }),
    matcher,
    jobs,
    publications: disposer.own(Publications.open(config, { clock, onDamage })),
    senders: new ExpectedSenders({ config, log, matcher, meter, minions, jobs, shared }),
    minions,
    mine: disposer.own(Mine.open(minionDataDirectory(config), { onDamage })),
    catalogues: disposer.own(Catalogues.open(minionDataDirectory(config), { onDamage })),
    starts,
    syndics: new Syndics({ config, starts, below, log }),
    auth: disposer.own(
      openAuth({
        config,
        matcher,
        subjects,
        clock: steady,
        log,
        onDamage,
        ownerOfJob: (jid) => (isJid(jid) ? ownerOfJob(jobs.load(jid)?.load) : undefined), // others may be too long for a store
        ...(logins && { logins }),
      }),
    ),
    replays: disposer.own(ReplayGuard.open(config, clock, { onDamage })),
    callChecks: new CallChecks(environment.passOn),
    files: await FileServer.open(config, log),
    publicKey: async (id) => keys.accepted(id),
    paramsOf: modules.params,
    shownCall: (kind, call) => shownCall(call, () => functions[kind].params(call.fun), config),
    fire: environment.fire,
    publish: environment.publish,
    requestRotation: environment.requestRotation,
    startRun: (run) => runs.start(run),
    nextJid: jidSource(config, clock),
  }
  const invites = disposer.own(new Invites(config.pki_dir, { clock: steady, onDamage }))
  const decide = createKeyDecider(
    { ...environment, clock: steady },
    { keys, invites, keyAudit: context.keyAudit },
  )
  return {
    context,
    sessions,
    answer: createWorker({ context, masterKeys, sessions, aesKeys, decide, log, clock: steady }),
  }
}

/** Whether clients of the API may start runners or wheel functions: programs wait for those, so a process is kept ready. */
const isAskedByApi = ({ netapi_enable_clients: clients }: MasterConfig): boolean =>
  clients.some((client) => /^(?:runner|wheel)/.test(String(client)))

const ownerOfJob = (load: object | undefined): string | undefined =>
  load && 'owner' in load && typeof load.owner === 'string' ? load.owner : undefined

/** With `unique_jid` an id ends in the process id, as in Salt; ours are unique without it. */
function jidSource({ unique_jid, cluster_id, master_id, id }: MasterConfig, clock: Clock): () => string {
  const next = createJidSource(clock, cluster_id === undefined ? undefined : masterNameOf({ master_id, id }))
  return unique_jid ? () => `${next()}_${process.pid}` : next
}
