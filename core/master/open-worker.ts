import { AuditLog, keyEntry } from '../auth/audit/index.ts'
import { openAuth, type SignIns } from '../auth/index.ts'
import type { Log } from '../author/context.ts'
import type { Clock } from '../base/clock.ts'
import { currentUser } from '../base/current-user.ts'
import type { Disposer } from '../base/disposer.ts'
import type { AesKeys } from '../channel/aes-keys.ts'
import type { MasterConfig } from '../config/index.ts'
import { FileServer } from '../fileserver/index.ts'
import { RunProcesses } from '../jobs/background.ts'
import { cachedMinions } from '../jobs/cached-minions.ts'
import { Catalogues } from '../jobs/catalogues.ts'
import { createJidSource } from '../jobs/jid.ts'
import { MinionData } from '../jobs/minion-data.ts'
import { MinionStarts } from '../jobs/minion-starts.ts'
import { openJobCache } from '../jobs/open-job-cache.ts'
import { minionDataDirectory } from '../jobs/paths.ts'
import { Invites, KeyAudit, KeyStore, loadMasterKeys, SessionKeys } from '../keys/index.ts'
import { openLoader, shownCall } from '../loader/index.ts'
import type { Meter } from '../metrics/index.ts'
import { openMatchers } from '../targets/open-match.ts'
import { jobTracer } from '../tracing/index.ts'
import type { Verdict } from '../wire/catalogue.ts'
import { damageTo } from './directories.ts'
import { ExpectedSenders } from './expected-senders.ts'
import { keyDecisions } from './key-decisions.ts'
import { ReplayGuard } from './replay-guard.ts'
import type { WorkerRoom } from './room.ts'
import { Verdicts } from './verdicts.ts'
import { createWorker } from './worker.ts'

/** What a worker is given; the event bus and the publisher are reached through its functions. */
export interface WorkerSurroundings extends Pick<WorkerRoom, 'fire' | 'publish' | 'requestRotation'> {
  readonly config: MasterConfig
  readonly aesKeys: AesKeys
  readonly log: Log
  readonly clock: Clock
  /** By which keys, tokens and requests grow old; `clock` if not given. */
  readonly steady?: Clock
  readonly meter?: Meter | undefined
  /** A minion's answer to a check that another worker waits for. */
  passOn?(id: string, verdict: Verdict): void
  /** Counts wrong passwords together with other workers; of this one alone if not given. */
  readonly signIns?: SignIns
  /** Something for stores outside is in the outbox. */
  onQueued?(): void
  /** Pending keys at most, if not as many as usual. */
  readonly maxPending?: number
}

export interface OpenWorker {
  readonly room: WorkerRoom
  readonly sessions: SessionKeys
  /** Gives the reply frame to a request frame. */
  answer(frame: Uint8Array): Promise<Uint8Array>
}

/** Open the stores of a master and a worker over them. What was opened is closed by `disposer`. */
export async function openMasterWorker(around: WorkerSurroundings, disposer: Disposer): Promise<OpenWorker> {
  const { config, aesKeys, log, clock, steady = clock, onQueued, signIns } = around
  const masterKeys = await loadMasterKeys(config)
  const keys = new KeyStore(config.pki_dir, config.api_clients)
  const onDamage = damageTo(log)
  const sessions = disposer.own(
    SessionKeys.open(config.cachedir, {
      keys,
      lifetimeSeconds: config.publish_session,
      clock: steady,
      onDamage,
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
  const { meter } = around
  const jobs = disposer.own(openJobCache(config, { clock, onDamage, ...(onQueued && { onQueued }) }))
  const runs = disposer.own(new RunProcesses(config, { ready: isAskedByApi(config) }))
  const room: WorkerRoom = {
    config,
    log,
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
    senders: new ExpectedSenders({ config, log, matcher, meter, minions, jobs }),
    minions,
    catalogues: disposer.own(Catalogues.open(minionDataDirectory(config), { onDamage })),
    starts: disposer.own(MinionStarts.open(minionDataDirectory(config), { onDamage })),
    auth: disposer.own(
      openAuth({
        ...{ config, matcher, subjects, clock: steady, log, onDamage },
        ownerOfJob: (jid) => ownerOfJob(jobs.load(jid)?.load),
        ...(signIns && { signIns }),
      }),
    ),
    replays: disposer.own(ReplayGuard.open(config, clock, { onDamage })),
    verdicts: new Verdicts(around.passOn),
    files: await FileServer.open(config, log),
    publicKey: async (id) => keys.accepted(id),
    paramsOf: modules.params,
    shownCall: (kind, call) => shownCall(call, () => functions[kind].params(call.fun), config),
    fire: around.fire,
    publish: around.publish,
    requestRotation: around.requestRotation,
    startRun: (run) => runs.start(run),
    nextJid: jidSource(config, clock),
  }
  const invites = disposer.own(new Invites(config.pki_dir, { clock: steady, onDamage }))
  const decide = keyDecisions({ ...around, clock: steady }, { keys, invites, keyAudit: room.keyAudit })
  return {
    room,
    sessions,
    answer: createWorker({ room, masterKeys, sessions, aesKeys, decide, log, clock: steady }),
  }
}

/** Programs wait for what they ask a server of the API: a terminal has more patience. */
const isAskedByApi = ({ netapi_enable_clients: clients }: MasterConfig): boolean =>
  clients.some((client) => /^(?:runner|wheel)/.test(String(client)))

const ownerOfJob = (load: object | undefined): string | undefined =>
  load && 'owner' in load && typeof load.owner === 'string' ? load.owner : undefined

/** With `unique_jid` an id tells the process that gave it, as in Salt; ours are unique anyway. */
function jidSource({ unique_jid }: MasterConfig, clock: Clock): () => string {
  const next = createJidSource(clock)
  return unique_jid ? () => `${next()}_${process.pid}` : next
}
