import type { Log } from '../author/context.ts'
import { systemClock } from '../base/clock.ts'
import { currentUser } from '../base/current-user.ts'
import { messageOf, SaltError } from '../base/errors.ts'
import { createJidSource } from '../base/jid.ts'
import { asReceived } from '../codec/index.ts'
import { type MinionConfig, networkTransportsOf } from '../config/index.ts'
import { EventBus, minionEventSockets, tags } from '../events/index.ts'
import { ReturnSpool } from '../jobs/return-spool.ts'
import { MinionKeys } from '../keys/minion-keys.ts'
import { collectGrains, openLoader } from '../loader/index.ts'
import { openMatch } from '../targets/open-match.ts'
import type { JobLoad } from '../wire/publication.ts'
import type { RawCallArguments } from '../wire/raw-arguments.ts'
import { argumentsForReturn, type JobResult } from '../wire/return.ts'
import { CachedReturns } from './cached-returns.ts'
import { returnersOfCall } from './call-returners.ts'
import { Datastore } from './datastore.ts'
import { createFileServices } from './files.ts'
import { Executors } from './jobs/executors.ts'
import { errorText, failedOutcome } from './jobs/failed-return.ts'
import { maskedArguments, runFunction } from './jobs/job-runner.ts'
import { ProcTable } from './jobs/proc-table.ts'
import { runGuarded } from './jobs/uncaught.ts'
import { mastersInOrder } from './link/choose-masters.ts'
import { MasterConnection } from './link/master-connection.ts'
import { withChosenMasters } from './master-function.ts'
import { cachedReturnsDirectory } from './paths.ts'
import { fetchPillar } from './pillar.ts'
import { createMinionServices } from './services.ts'

export interface CallSettings {
  readonly config: MinionConfig
  /** Run without a master. */
  readonly local: boolean
  /** Send the return to the master. */
  readonly returnToMaster: boolean
  readonly fun: string
  readonly args: readonly unknown[]
  readonly kwargs: Readonly<Record<string, unknown>>
  /** The arguments as the user typed them. */
  readonly words?: RawCallArguments | undefined
  /** Use only the grains of the configuration. */
  readonly skipGrains?: boolean
  /** Metadata that is sent with the return. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  /** Names of executors. Default: `module_executors` of the configuration. */
  readonly moduleExecutors?: readonly unknown[] | undefined
  readonly executorOpts?: Readonly<Record<string, unknown>> | undefined
  /** Names of returners that also get the return, separated by commas. */
  readonly returners?: string | undefined
  readonly log: Log
}

export interface LocalCallResult extends JobResult {
  readonly jid: string
  /** Sentences about stores that did not accept the return. */
  readonly notStored: readonly string[]
}

/**
 * Run one function on this host, as `salt-call` does. Without `local` the return can be sent to the master (wire protocol
 * §10.3).
 */
export async function callFunction(settings: CallSettings): Promise<LocalCallResult> {
  const { local, returnToMaster, fun, args, kwargs, words, metadata, log } = settings
  const config: MinionConfig = local ? { ...settings.config, file_client: 'local' } : settings.config
  const { id } = config
  const grains = settings.skipGrains ? config.grains : await collectGrains(config, log)
  const bus = minionBus(config)
  const connection = local ? undefined : await openLink(config, grains, log)
  try {
    const arg = Object.keys(kwargs).length ? [...args, { __kwarg__: true, ...kwargs }] : [...args]
    const jid = createJidSource(systemClock)()
    const user = currentUser()
    const extras = metadata && { metadata }
    const { moduleExecutors: module_executors, executorOpts: executor_opts } = settings
    const executorFields = {
      ...(module_executors && { module_executors }),
      ...(executor_opts && { executor_opts }),
    }
    const origin = { tgt: 'salt-call', tgt_type: 'glob', pid: process.pid } // as in Salt
    const job: JobLoad = { fun, arg, ...origin, jid, ret: '', user, ...extras, ...executorFields }
    const runner = await runnerOf(config, grains, connection, bus, log)
    const save = await returnersOfCall(settings.returners ?? '', config, runner, log)
    const abort = new AbortController()
    const run = () => runFunction({ fun, arg, words }, job, runner, abort.signal)
    const ran = await runGuarded(run, { abort, log, failed: (reason) => failedOutcome(errorText(reason)) })
    const hint = ran.failure === 'missing' ? await runner.loader.hint(fun) : ''
    const outcome = { ...ran, return: hint ? `${ran.return}${hint}` : asReceived(ran.return, 'return') }
    const shown = argumentsForReturn(await maskedArguments({ fun, arg }, runner))
    if (connection && returnToMaster)
      await report(connection, { id, fun, fun_args: shown, ...extras, outcome }, log)
    const { return: value, retcode, success, out } = outcome
    const ret = {
      jid,
      id,
      fun,
      fun_args: shown,
      return: value,
      retcode,
      success,
      user,
      ...(out && { out }),
      ...extras,
    }
    return { ...outcome, jid, notStored: await save(ret) }
  } finally {
    await bus.close()
    await connection?.close()
  }
}

interface Report {
  readonly id: string
  readonly fun: string
  readonly fun_args: readonly unknown[]
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly outcome: JobResult
}

/** Send a return without a job. The master assigns the jid. */
async function report(connection: MasterConnection, { outcome, ...call }: Report, log: Log): Promise<void> {
  const { return: value, retcode } = outcome
  await connection
    .request({ cmd: '_return', jid: 'req', return: value, retcode, ...call })
    .catch((error: unknown) => log.error(`The master did not accept the return: ${messageOf(error)}`))
}

interface MinionBus {
  /** Rejects with MASTER_UNREACHABLE if no minion runs on this host. */
  fire(tag: string, data: object): Promise<void>
  close(): Promise<void>
}

/** Return the event bus of the minion that runs on this host with the same configuration. Connects at the first event. */
function minionBus(config: MinionConfig): MinionBus {
  let bus: Promise<EventBus> | undefined
  return {
    async fire(tag, data) {
      bus ??= EventBus.connect(minionEventSockets(config, config.id))
      await (await bus).fire(tag, data)
    },
    async close() {
      await (await bus?.catch(() => undefined))?.close()
    },
  }
}

async function runnerOf(
  config: MinionConfig,
  grains: Readonly<Record<string, unknown>>,
  connection: MasterConnection | undefined,
  bus: MinionBus,
  log: Log,
) {
  const { id } = config
  // False: no minion runs here.
  const fire = (tag: string) =>
    bus.fire(tag, {}).then(
      () => true,
      () => false,
    )
  const ask = async (load: Readonly<Record<string, unknown>>) => {
    if (connection) return connection.request(load)
    throw new SaltError('MASTER_UNREACHABLE', 'This needs a master; leave out --local.')
  }
  const refresh = {
    refreshModules: () => fire(tags.moduleRefresh),
    refreshGrains: () => fire(tags.grainsRefresh),
  }
  const datastore = new Datastore(config.cachedir)
  const services = createMinionServices({
    ...createFileServices({ config, grains, log, request: ask, ...refresh }),
    ...refresh,
    id,
    procs: await ProcTable.read(config.cachedir),
    spool: ReturnSpool.empty(),
    cached: new CachedReturns(cachedReturnsDirectory(config)),
    datastore,
    fire: bus.fire,
    request: ask,
    sendToMasters: ask,
  })
  const pillar = connection ? await fetchPillar(connection, config, grains) : {}
  const match = await openMatch({ config, id, grains, pillar, datastore, log })
  const loader = openLoader('modules', { config, grains, pillar, log })
  const executors = new Executors({ config, grains, pillar, log, ofJobs: false })
  return { id, config, grains, pillar, loader, executors, services, match, log }
}

/** Connect to the first master that accepts this minion. */
async function openLink(
  config: MinionConfig,
  grains: Readonly<Record<string, unknown>>,
  log: Log,
): Promise<MasterConnection> {
  const keys = await MinionKeys.open(config)
  const failures: unknown[] = []
  const mastersConfig = await withChosenMasters(config, { grains, log, signal: new AbortController().signal })
  const masters = mastersInOrder(mastersConfig)
  const transports = networkTransportsOf(config)
  if (masters.length === 0)
    throw new SaltError(
      'MASTER_UNREACHABLE',
      'This minion has no master (master_type: disable); use --local.',
    )
  for (const address of masters) {
    const connection = new MasterConnection({
      config,
      id: config.id,
      key: keys.key,
      known: keys.master(),
      signingKey: keys.signingKey,
      transport: transports(address.transport),
      address,
      grains: () => grains,
      log,
      once: true,
      onJob: () => {},
      onReady: async () => {},
      now: Date.now,
    })
    try {
      await connection.signIn()
      return connection
    } catch (error) {
      failures.push(error)
      await connection.close()
    }
  }
  throw failures[0]
}
