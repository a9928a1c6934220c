import { setTimeout } from 'node:timers/promises'
import { checkAccess } from '../auth/index.ts'
import { limitOf, SignInLimit } from '../auth/sign-in/limit.ts'
import { monotonicClock, systemClock } from '../base/clock.ts'
import { messageOf } from '../base/errors.ts'
import { onHangup } from '../base/hangup.ts'
import { SteadyTime } from '../base/steady-time.ts'
import { stopRequested } from '../base/stop-signals.ts'
import { Turns } from '../base/turns.ts'
import { encodeNetwork } from '../codec/index.ts'
import type { Surroundings } from '../config/daemon.ts'
import { keepAliveOf, type MasterConfig } from '../config/index.ts'
import { apiOptions, logOptions, masterReloads, takeAgain } from '../config/reload.ts'
import { SymmetricKey } from '../crypto/index.ts'
import { Engines } from '../engines/index.ts'
import { tags } from '../events/index.ts'
import { endLostRuns } from '../jobs/lost-runs.ts'
import { jobSinks, loadSinks } from '../jobs/open-job-cache.ts'
import { loadMasterKeys, rotationFlag, writeRootKeys } from '../keys/index.ts'
import type { KindName } from '../loader/index.ts'
import type { Logger } from '../log/index.ts'
import { wantsMetrics } from '../metrics/index.ts'
import { openDevice, type WorkerDevice } from '../transport/device.ts'
import { type HeldDirectory, holdDirectory } from '../transport/held-directory.ts'
import { getNetworkTransport } from '../transport/index.ts'
import { refusals } from '../wire/envelope.ts'
import { checkStores, makeDirectories } from './directories.ts'
import { eventTargets } from './event-sink.ts'
import { expire, leapText } from './expiry.ts'
import { ExtensionWatch, inWorkers } from './extension-watch.ts'
import { isWorking } from './is-working.ts'
import { startMaintenance } from './maintenance.ts'
import { collectAfterWork } from './memory.ts'
import type { ToChild } from './messages.ts'
import { adviseOnOpenFiles } from './open-files.ts'
import { workersBackend } from './paths.ts'
import { type ChildSpec, Supervisor } from './supervisor.ts'

/** A worker that does not answer probes for this long is replaced. */
const STUCK_MS = 800
/** With the time requests under way get (see the device), a master ends within 5 seconds. */
const WORKERS_STOP_MS = 1_500
const PUBLISHER_STOP_MS = 1_000
const TIDY_MS = 500
/** Whoever waits for an answer of salt-api gets one. */
const API_STOP_MS = 1_500

/** What a worker has begun may take so long before another one with a new configuration takes its place. */
const FINISH_MS = 60_000

/**
 * The master: this process holds the request port and watches over the publisher and the workers (design decision 7).
 * Resolves with the exit code once it is told to stop by SIGTERM or SIGINT.
 */
export async function runMaster(
  config: MasterConfig,
  { log, started, load }: Surroundings<MasterConfig>,
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
    const taken = master && (await takeAgain(running, masterReloads, { load: readAgain, log }))
    running = taken?.config ?? running
    log.reload(running)
    await master?.reload(running, taken?.changed ?? new Set())
  })
  master = await openMaster(config, log)
  log.info(`salt-master is ready on ${config.interface}, ports ${config.publish_port} and ${config.ret_port}`)
  started()
  await stopped
  closeReloads()
  log.info('salt-master is stopping')
  await master.close()
  return 0
}

interface Master {
  /** Go by a configuration of which these options are others than before. Never rejects. */
  reload(config: MasterConfig, changed: ReadonlySet<string>): Promise<void>
  close(): Promise<void>
}

async function openMaster(config: MasterConfig, log: Logger): Promise<Master> {
  /** Children that are started from now on go by it. */
  let current = config
  getNetworkTransport(config.transport) // one that cannot be used ends it here
  for (const problem of checkAccess(config)) log.error(problem)
  await makeDirectories(config)
  adviseOnOpenFiles(config, log)
  collectAfterWork()
  const supervisor = new Supervisor(log, new SignInLimit(limitOf(config)))
  // First of all: it shows whether another master runs here.
  const device = await openRequestPort(config, log, (worker) => isWorking(supervisor.pidOf(worker)))
  let aes = SymmetricKey.generate()
  const start = (name: string): Extract<ToChild, { type: 'start' }> => ({
    type: 'start',
    name,
    config: current,
    aes: aes.text,
  })

  /** Workers first: a minion that cannot read a publication signs in, and must be given the key it was made with. */
  async function rotate(revoke: boolean): Promise<void> {
    aes = SymmetricKey.generate()
    await supervisor.tellRotation({ type: 'rotate', aes: aes.text, revoke }, 'MWorker')
    await supervisor.tellRotation({ type: 'rotate', aes: aes.text, revoke }, 'publisher')
    supervisor.tell({ type: 'fire', tag: tags.keyRotated, data: { rotate_aes_key: true } }, 'publisher')
  }

  const workers = workerSpecs(config, device, start)
  const returner: ChildSpec = {
    name: 'returner',
    entry: 'returner-process',
    start: () => start('returner'),
  }
  const writes = eventTargets(config).length + jobSinks(config).length + loadSinks(config).length > 0
  const api: ChildSpec = {
    name: 'salt-api',
    entry: '../api/api-process',
    start: () => ({ type: 'serve', config: current }),
  }

  let held: HeldDirectory | undefined
  let leave = async () => {}
  let stuck = 0
  try {
    held = await holdDirectory({
      directory: config.cachedir,
      program: 'salt-master',
      onProblem: (sentence) => log.warn(sentence),
    })
    leave = await checkStores(config, log)
    await makeKeys(config, log)
    await supervisor.start({
      name: 'publisher',
      entry: 'publisher-process',
      start: () => start('publisher'),
      // The next one counts its publications from 1 again, which minions take for replays under the same key.
      onGone: () => void rotate(false),
    })
    device.onStuck((worker) => {
      log.error(`${worker} does not answer and is replaced; its requests go to another worker`)
      supervisor.kill(worker)
      stuck++
    })
    if (writes) await supervisor.start(returner)
    await Promise.all(workers.map((spec) => supervisor.start(spec)))
    if (servesApi(config)) supervisor.keep(api)
  } catch (error) {
    await supervisor.stop('', PUBLISHER_STOP_MS)
    await device.close()
    await held?.close()
    throw error
  }
  const time = new SteadyTime({ clock: systemClock, onLeap: (ms) => log.warn(leapText(ms)) })
  const maintenance = startMaintenance({
    clock: monotonicClock,
    log,
    loopInterval: config.loop_interval,
    publishSession: config.publish_session,
    rotationFlag: rotationFlag(config),
    rotate,
    expire: () =>
      expire(current, log, (tag, data) => supervisor.tell({ type: 'fire', tag, data }, 'publisher'), time),
    endLostRuns: () => endLostRuns(config),
  })
  const engines = new Engines({ role: 'master', id: config.id, config: { ...config }, log })
  const metrics = wantsMetrics(config)
    ? (await import('./metrics.ts')).openMasterMetrics({
        config,
        log,
        device,
        supervisor,
        stuck: () => stuck,
      })
    : undefined

  const replacing = new Turns(1)
  /** Replace processes one after the other. The request port stays open meanwhile: requests wait for a worker. */
  async function replaceAll(parts: readonly ChildSpec[]): Promise<void> {
    const over = await replacing.take()
    try {
      for (const part of parts) await supervisor.replace(part, FINISH_MS)
    } finally {
      over()
    }
  }

  const watch = (who: string, kinds: readonly KindName[], parts: readonly ChildSpec[]) =>
    ExtensionWatch.open({
      kinds,
      config: () => ({ ...current }),
      onChange() {
        log.info(`${who} replaced, because files of extensions have changed (${kinds.join(', ')}).`)
        return replaceAll(parts)
      },
    })
  const watches = await Promise.all([
    watch('The workers are', inWorkers, workers),
    ...(writes ? [watch('The process that writes to stores is', ['returners'], [returner])] : []),
  ])

  async function reload(next: MasterConfig, changed: ReadonlySet<string>): Promise<void> {
    const served = servesApi(current)
    current = next
    supervisor.tell({ type: 'reload', config: next })
    const has = (options: ReadonlySet<string>) => [...changed].some((name) => options.has(name))
    if (changed.has('publisher_acl')) {
      await makeDirectories(next)
      await writeRootKeys(next, (message) => log.warn(message))
    }
    if ([...changed].some((name) => !logOptions.has(name))) await replaceAll(workers)
    await engines.reload({ ...next })
    if (!has(apiOptions)) return
    if (!served) return servesApi(next) ? supervisor.keep(api) : undefined
    if (servesApi(next)) await supervisor.replace(api, API_STOP_MS)
    else await supervisor.end(api.name, API_STOP_MS)
  }

  return {
    reload: (next, changed) =>
      reload(next, changed).catch((error: unknown) =>
        log.error(`The new configuration could not be taken as a whole: ${messageOf(error)}`),
      ),
    async close() {
      for (const one of watches) one.close()
      await metrics?.close()
      const ended = engines.close()
      const tidied = maintenance.close()
      await Promise.all([supervisor.stop('salt-api', API_STOP_MS), device.close()])
      await supervisor.stop('MWorker', WORKERS_STOP_MS)
      await ended
      await supervisor.stop('', PUBLISHER_STOP_MS)
      await Promise.race([tidied, setTimeout(TIDY_MS, undefined, { ref: false })]) // it may have much to remove
      await leave()
      await held?.close()
    },
  }
}

const servesApi = ({ api }: MasterConfig): boolean => (typeof api === 'boolean' ? api : api.start !== false)

/** The master's keys, and key files of the users who may act for it. */
async function makeKeys(config: MasterConfig, log: Logger): Promise<void> {
  await loadMasterKeys(config)
  await writeRootKeys(config, (message) => log.warn(message))
}

function openRequestPort(
  config: MasterConfig,
  log: Logger,
  isWorking: (worker: string) => boolean,
): Promise<WorkerDevice> {
  return openDevice({
    front: {
      host: config.interface,
      port: config.ret_port,
      ipv6: config.ipv6,
      backlog: config.zmq_backlog,
      keepAlive: keepAliveOf(config),
      onFull: (sentence) => log.error(sentence),
      onRoom: (sentence) => log.info(sentence),
    },
    backend: workersBackend(config),
    stuckMs: STUCK_MS,
    isWorking,
    refusal: encodeNetwork(refusals.exception),
  })
}

function workerSpecs(
  config: MasterConfig,
  device: WorkerDevice,
  start: (name: string) => Extract<ToChild, { type: 'start' }>,
): ChildSpec[] {
  return Array.from({ length: config.worker_threads }, (_, index) => {
    const name = `MWorker-${index}`
    return { name, entry: 'worker-process', start: () => start(name), onGone: () => device.workerGone(name) }
  })
}
