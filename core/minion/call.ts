import type { Log } from '../author/context.ts'
import { systemClock } from '../base/clock.ts'
import { currentUser } from '../base/current-user.ts'
import { messageOf, SaltError } from '../base/errors.ts'
import { asReceived } from '../codec/index.ts'
import type { MinionConfig } from '../config/index.ts'
import { EventBus, minionEventSockets, tags } from '../events/index.ts'
import { CachedReturns } from '../jobs/cached-returns.ts'
import { Datastore } from '../jobs/datastore.ts'
import { createJidSource } from '../jobs/jid.ts'
import { ReturnSpool } from '../jobs/return-spool.ts'
import { MinionKeys } from '../keys/minion-keys.ts'
import { collectGrains, openLoader } from '../loader/index.ts'
import { openMatch } from '../targets/open-match.ts'
import { getNetworkTransport } from '../transport/index.ts'
import type { JobLoad } from '../wire/publication.ts'
import { type Outcome, shownArguments } from '../wire/return.ts'
import type { TypedWords } from '../wire/typed-words.ts'
import { returnersOfCall } from './call-returners.ts'
import { Executors } from './executors.ts'
import { failedOutcome } from './failed-return.ts'
import { createFileServices } from './files.ts'
import { maskedArguments, runFunction } from './job-runner.ts'
import { masterAddresses } from './master-addresses.ts'
import { MasterLink } from './master-link.ts'
import { cachedReturnsDirectory } from './paths.ts'
import { fetchPillar } from './pillar.ts'
import { ProcTable } from './proc-table.ts'
import { createServices } from './services.ts'
import { guard } from './uncaught.ts'

export interface CallSettings {
  readonly config: MinionConfig
  /** Do not speak to a master. */
  readonly local: boolean
  /** The master gets the return. */
  readonly tellMaster: boolean
  readonly fun: string
  readonly args: readonly unknown[]
  readonly kwargs: Readonly<Record<string, unknown>>
  /** The arguments as they were typed. */
  readonly words?: TypedWords | undefined
  /** Collect none but those of the configuration. */
  readonly skipGrains?: boolean
  /** Goes with the return. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  /** What runs the function, by name; without it that of the configuration. */
  readonly moduleExecutors?: readonly unknown[] | undefined
  readonly executorOpts?: Readonly<Record<string, unknown>> | undefined
  /** Returners that get the return, too, with commas. */
  readonly returners?: string | undefined
  readonly log: Log
}

export interface CallResult extends Outcome {
  readonly jid: string
  /** Sentences about stores that did not take the return. */
  readonly notStored: readonly string[]
}

/** Run one function on this host, as `salt-call` does; without `local` the master may get the return (wire protocol §10.3). */
export async function callFunction(settings: CallSettings): Promise<CallResult> {
  const { local, tellMaster, fun, args, kwargs, words, metadata, log } = settings
  const config: MinionConfig = local ? { ...settings.config, file_client: 'local' } : settings.config
  const { id } = config
  const grains = settings.skipGrains ? config.grains : await collectGrains(config, log)
  const bus = minionBus(config)
  const link = local ? undefined : await openLink(config, grains, log)
  try {
    const arg = Object.keys(kwargs).length ? [...args, { __kwarg__: true, ...kwargs }] : [...args]
    const jid = createJidSource(systemClock)()
    const user = currentUser()
    const extras = metadata && { metadata }
    const { moduleExecutors: module_executors, executorOpts: executor_opts } = settings
    const steering = {
      ...(module_executors && { module_executors }),
      ...(executor_opts && { executor_opts }),
    }
    const job: JobLoad = { fun, arg, tgt: id, jid, ret: '', tgt_type: 'glob', user, ...extras, ...steering }
    const runner = await runnerOf(config, grains, link, bus, log)
    const save = await returnersOfCall(settings.returners ?? '', config, runner, log)
    const abort = new AbortController()
    const run = () => runFunction({ fun, arg, words }, job, runner, abort.signal)
    const ran = await guard(run, { abort, log, failed: failedOutcome })
    const hint = ran.failure === 'missing' ? await runner.loader.hint(fun) : ''
    const outcome = { ...ran, return: hint ? `${ran.return}${hint}` : asReceived(ran.return, 'return') }
    const shown = shownArguments(await maskedArguments({ fun, arg }, runner))
    if (link && tellMaster) await report(link, { id, fun, fun_args: shown, ...extras, outcome }, log)
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
    await link?.close()
  }
}

interface Report {
  readonly id: string
  readonly fun: string
  readonly fun_args: readonly unknown[]
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly outcome: Outcome
}

/** A return without a job: the master gives it a jid. */
async function report(link: MasterLink, { outcome, ...call }: Report, log: Log): Promise<void> {
  const { return: value, retcode } = outcome
  await link
    .request({ cmd: '_return', jid: 'req', return: value, retcode, ...call })
    .catch((error: unknown) => log.error(`The master did not take the return: ${messageOf(error)}`))
}

interface MinionBus {
  /** Rejects with MASTER_UNREACHABLE if no minion runs. */
  fire(tag: string, data: object): Promise<void>
  close(): Promise<void>
}

/** The event bus of the minion that runs on this host with the same configuration, if one does. */
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
  link: MasterLink | undefined,
  bus: MinionBus,
  log: Log,
) {
  const { id } = config
  const tell = (tag: string) => bus.fire(tag, {}).catch(() => {}) // nobody to tell
  const ask = async (load: Readonly<Record<string, unknown>>) => {
    if (link) return link.request(load)
    throw new SaltError('MASTER_UNREACHABLE', 'This needs a master; leave out --local.')
  }
  const refresh = {
    refreshModules: async () => void (await tell(tags.moduleRefresh)),
    refreshGrains: () => tell(tags.grainsRefresh),
  }
  const datastore = new Datastore(config.cachedir)
  const services = createServices({
    ...createFileServices({ config, grains, log, request: ask, ...refresh }),
    ...refresh,
    id,
    procs: await ProcTable.read(config.cachedir),
    spool: ReturnSpool.empty(),
    cached: new CachedReturns(cachedReturnsDirectory(config)),
    datastore,
    fire: bus.fire,
    request: ask,
    tellMasters: ask,
  })
  const pillar = link ? await fetchPillar(link, config, grains) : {}
  const match = await openMatch({ config, id, grains, pillar, datastore, log })
  const loader = openLoader('modules', { config, grains, pillar, log })
  const executors = new Executors({ config, grains, pillar, log, ofJobs: false })
  return { id, config, grains, pillar, loader, executors, services, match, log }
}

/** A link to the first of the masters that accepts this minion. */
async function openLink(
  config: MinionConfig,
  grains: Readonly<Record<string, unknown>>,
  log: Log,
): Promise<MasterLink> {
  const keys = await MinionKeys.open(config)
  const failures: unknown[] = []
  for (const address of masterAddresses(config)) {
    const link = new MasterLink({
      config,
      id: config.id,
      key: keys.key,
      known: keys.master(),
      signingKey: keys.signingKey,
      transport: getNetworkTransport(config.transport),
      address,
      grains: () => grains,
      log,
      once: true,
      onJob: () => {},
      onReady: async () => {},
      now: Date.now,
    })
    try {
      await link.signIn()
      return link
    } catch (error) {
      failures.push(error)
      await link.close()
    }
  }
  throw failures[0]
}
