import { checkAccess } from '../../auth/index.ts'
import { LoginLimit, limitOf } from '../../auth/login/limit.ts'
import { monotonicClock, systemClock } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
import { SteadyTime } from '../../base/steady-time.ts'
import { endsWithin } from '../../base/with-timeout.ts'
import { encodeNetwork } from '../../codec/index.ts'
import type { DaemonEnvironment } from '../../config/daemon-environment.ts'
import {
  localTransportOf,
  type MasterConfig,
  networkTransportOf,
  serverSettingsOf,
} from '../../config/index.ts'
import { applyReload, masterReloads } from '../../config/reload.ts'
import { Engines } from '../../engines/index.ts'
import { loadMasterKeys, rotationFlagPath, writeRootKeys } from '../../keys/index.ts'
import type { Logger } from '../../log/index.ts'
import { metricsEnabled } from '../../metrics/index.ts'
import { onHangup } from '../../process/hangup.ts'
import { type ProcessWork, workOf } from '../../process/silence.ts'
import { stopRequested } from '../../process/stop-signals.ts'
import { endLostRuns } from '../../runs/lost-runs.ts'
import type { RequestPort } from '../../transport/contract.ts'
import { lockDirectory } from '../../transport/directory-lock.ts'
import { openProxy, type WorkerProxy } from '../../transport/proxy.ts'
import { refusals } from '../../wire/envelope.ts'
import { MasterChildren } from './children.ts'
import { checkMasterStores, makeDirectories } from './directories.ts'
import { clockLeapMessage, expire } from './expiry.ts'
import { startMaintenance } from './maintenance.ts'
import { collectGarbageAfterWork } from './memory.ts'
import { adviseOnOpenFiles } from './open-files.ts'
import { workersEndpoint } from './paths.ts'
import { takeOverPythonCache } from './python-cache.ts'
import { Supervisor } from './supervisor.ts'

/**
 * Requests that may be outstanding over NATS, where nothing makes clients wait: after a job, all minions return at once. Their bytes are
 * limited, too.
 */
const MAX_OUTSTANDING_OF_NATS = 100_000
/** A worker that does not answer probes for this long is replaced. */
const STUCK_MS = 800
/** How long to wait for a running maintenance, which may have much to remove. */
const MAINTENANCE_STOP_MS = 500

/**
 * Run the master: this process holds the request port and supervises the publisher and the workers.
 * Resolves with the exit code after SIGTERM or SIGINT.
 */
export async function runMaster(
  config: MasterConfig,
  { log, started, load }: DaemonEnvironment<MasterConfig>,
): Promise<number> {
  const stopped = stopRequested()
  let master: Master | undefined
  let running = config
  const readAgain = async () => {
    const { config, warnings } = await load()
    return { config, warnings: [...warnings, ...checkAccess(config)] }
  }
  const closeReloads = onHangup(async () => {
    log.reload(running)
    const taken = master && (await applyReload(running, masterReloads, { load: readAgain, log }))
    running = taken?.config ?? running
    log.reload(running)
    await master?.reload(running, taken?.changed ?? new Set())
  })
  master = await openMaster(config, log, stopped)
  if (!master) {
    closeReloads()
    return 0
  }
  log.info(`salt-master is ready on ${config.interface}, ports ${config.publish_port} and ${config.ret_port}`)
  started()
  await stopped
  closeReloads()
  log.info('salt-master is stopping')
  await master.close()
  return 0
}

interface Master {
  /** Apply a configuration; `changed` names the options that differ. Never rejects. */
  reload(config: MasterConfig, changed: ReadonlySet<string>): Promise<void>
  close(): Promise<void>
}

/** Open the master. Resolves with undefined, and leaves nothing behind, if it is stopped meanwhile. */
async function openMaster(
  config: MasterConfig,
  log: Logger,
  stopped: Promise<void>,
): Promise<Master | undefined> {
  const ending = new AbortController()
  void stopped.then(() => ending.abort())
  networkTransportOf(config) // throws if it cannot be used
  for (const problem of checkAccess(config)) log.error(problem)
  await makeDirectories(config)
  adviseOnOpenFiles(config, log)
  collectGarbageAfterWork()
  const supervisor = new Supervisor(log, new LoginLimit(limitOf(config)))
  // Opened first: it fails if another master runs here.
  const proxy = await openRequestProxy(config, log, (worker) => workOf(supervisor.pidOf(worker)))
  const children = new MasterChildren({ config, log, supervisor, proxy })
  const stopChildren = async () => {
    await children.stopRequests()
    await children.stop()
  }
  const state = await openState(config, log, ending.signal).catch(async (error: unknown) => {
    await stopChildren()
    throw error
  })
  try {
    if (!ending.signal.aborted) await Promise.race([children.start(), stopped])
  } catch (error) {
    await stopChildren()
    await state.release()
    throw error
  }
  if (ending.signal.aborted) {
    log.info('salt-master is stopped while it is starting')
    await stopChildren()
    await state.release()
    return undefined
  }
  const maintenance = maintain(config, log, children)
  const engines = new Engines({ role: 'master', id: config.id, config: { ...config }, log })
  const metrics = metricsEnabled(config)
    ? (await import('../metrics/metrics.ts')).openMasterMetrics({
        config,
        log,
        proxy,
        supervisor,
        stuck: () => children.stuck,
      })
    : undefined
  const watches = await children.watchExtensions()
  return {
    async reload(next, changed) {
      try {
        if (changed.has('publisher_acl')) await allowUsers(next, log)
        await children.reload(next, changed)
        await engines.reload({ ...next })
      } catch (error) {
        log.error(`The new configuration could not be applied completely: ${messageOf(error)}`)
      }
    },
    async close() {
      watches.close()
      await metrics?.close()
      const enginesClosed = engines.close()
      const maintenanceClosed = maintenance.close()
      await children.stopRequests()
      await enginesClosed
      await children.stop()
      await endsWithin(maintenanceClosed, MAINTENANCE_STOP_MS)
      await state.close()
    },
  }
}

/** Lock the cache directory for this master, check its stores, and create its keys. */
async function openState(config: MasterConfig, log: Logger, ending: AbortSignal) {
  const lock = await lockDirectory({
    directory: config.cachedir,
    program: 'salt-master',
    onProblem: (sentence) => log.warn(sentence),
  })
  try {
    const endCheck = await checkMasterStores(config, log, ending)
    await takeOverPythonCache(config, log)
    await loadMasterKeys(config)
    await writeRootKeys(config, (message) => log.warn(message))
    return {
      /** Unlock without a clean shutdown, so that the next start checks the stores. */
      release: () => lock.close(),
      async close() {
        await endCheck()
        await lock.close()
      },
    }
  } catch (error) {
    await lock.close()
    throw error
  }
}

function maintain(config: MasterConfig, log: Logger, children: MasterChildren) {
  const time = new SteadyTime({ clock: systemClock, onLeap: (ms) => log.warn(clockLeapMessage(ms)) })
  return startMaintenance({
    clock: monotonicClock,
    log,
    loopInterval: config.loop_interval,
    publishSession: config.publish_session,
    rotationFlag: rotationFlagPath(config),
    rotate: children.rotate,
    expire: () => expire(children.config, log, children.fire, time),
    endLostRuns: () => endLostRuns(config),
  })
}

/** Create directories and key files for users that were added to `publisher_acl`. */
async function allowUsers(config: MasterConfig, log: Logger): Promise<void> {
  await makeDirectories(config)
  await writeRootKeys(config, (message) => log.warn(message))
}

async function openRequestProxy(
  config: MasterConfig,
  log: Logger,
  workOf: (worker: string) => ProcessWork,
): Promise<WorkerProxy> {
  return openProxy({
    fronts: await openRequestPorts(config, log),
    backend: workersEndpoint(config),
    stuckMs: STUCK_MS,
    workOf,
    ...(config.transport === 'nats' && { maxOutstanding: MAX_OUTSTANDING_OF_NATS }),
    refusal: encodeNetwork(refusals.exception),
  })
}

/** Open the port for minions and, if that is not a port of this host, one for the programs of this host. */
async function openRequestPorts(config: MasterConfig, log: Logger): Promise<RequestPort[]> {
  const settings = { ...serverSettingsOf(config, log), port: config.ret_port }
  const transport = networkTransportOf(config, log)
  if (transport.name !== 'nats') return [await transport.openRequestPort(settings)]
  const local = await localTransportOf(config).openRequestPort({ ...settings, host: '127.0.0.1' })
  try {
    return [local, await transport.openRequestPort(settings)]
  } catch (error) {
    await local.close()
    throw error
  }
}
