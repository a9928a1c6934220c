import { systemClock } from '../base/clock.ts'
import { deferred } from '../base/deferred.ts'
import { messageOf } from '../base/errors.ts'
import { encodeNetwork } from '../codec/index.ts'
import { keepAliveOf, type MasterConfig } from '../config/index.ts'
import { SymmetricKey } from '../crypto/index.ts'
import { tags } from '../events/index.ts'
import { Catalogues } from '../jobs/catalogues.ts'
import { JobCache } from '../jobs/job-cache.ts'
import { removeJobFiles } from '../jobs/job-files.ts'
import { jobCacheDirectory, minionDataDirectory } from '../jobs/paths.ts'
import { KeyStore, loadMasterKeys, rotationFlag, SessionKeys, writeRootKeys } from '../keys/index.ts'
import type { Logger } from '../log/index.ts'
import { openDevice, type WorkerDevice } from '../transport/device.ts'
import { getNetworkTransport } from '../transport/index.ts'
import { refusals } from '../wire/envelope.ts'
import { checkStores, damageTo, makeDirectories } from './directories.ts'
import { isWorking } from './is-working.ts'
import { startMaintenance } from './maintenance.ts'
import { collectAfterWork } from './memory.ts'
import type { ToChild } from './messages.ts'
import { adviseOnOpenFiles } from './open-files.ts'
import { workersBackend } from './paths.ts'
import { ReplayGuard } from './replay-guard.ts'
import { type ChildSpec, Supervisor } from './supervisor.ts'

/** A worker that does not answer probes for this long is replaced. */
const STUCK_MS = 800
/** With the time requests under way get (see the device), a master ends within 5 seconds. */
const WORKERS_STOP_MS = 1_500
const PUBLISHER_STOP_MS = 1_000

/**
 * The master: this process holds the request port and watches over the publisher and the workers (design decision 7).
 * Resolves with the exit code once it is told to stop by SIGTERM or SIGINT.
 */
export async function runMaster(config: MasterConfig, { log }: { log: Logger }): Promise<number> {
  const stopped = deferred<void>()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stopped.resolve())
  try {
    const master = await openMaster(config, log)
    log.info(
      `salt-master is ready on ${config.interface}, ports ${config.publish_port} and ${config.ret_port}`,
    )
    await stopped.promise
    log.info('salt-master is stopping')
    await master.close()
    return 0
  } catch (error) {
    log.error(messageOf(error))
    return 1
  }
}

async function openMaster(config: MasterConfig, log: Logger): Promise<{ close(): Promise<void> }> {
  getNetworkTransport(config.transport) // one that cannot be used ends it here
  await makeDirectories(config)
  adviseOnOpenFiles(config, log)
  collectAfterWork()
  const supervisor = new Supervisor(log)
  // First of all: it shows whether another master runs here.
  const device = await openRequestPort(config, (worker) => isWorking(supervisor.pidOf(worker)))
  let aes = SymmetricKey.generate()
  const start = (name: string): Extract<ToChild, { type: 'start' }> => ({
    type: 'start',
    name,
    config,
    aes: aes.text,
  })

  /** Workers first: a minion that cannot read a publication signs in, and must be given the key it was made with. */
  async function rotate(revoke: boolean): Promise<void> {
    aes = SymmetricKey.generate()
    await supervisor.tellRotation({ type: 'rotate', aes: aes.text, revoke }, 'MWorker')
    await supervisor.tellRotation({ type: 'rotate', aes: aes.text, revoke }, 'publisher')
    supervisor.tell({ type: 'fire', tag: tags.keyRotated, data: { rotate_aes_key: true } }, 'publisher')
  }

  let leave = async () => {}
  try {
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
    })
    await Promise.all(workerSpecs(config, device, start).map((spec) => supervisor.start(spec)))
  } catch (error) {
    await supervisor.stop('', PUBLISHER_STOP_MS)
    await device.close()
    throw error
  }
  const maintenance = startMaintenance({
    clock: systemClock,
    log,
    loopInterval: config.loop_interval,
    publishSession: config.publish_session,
    rotationFlag: rotationFlag(config),
    rotate,
    expire: () => expire(config, log),
  })
  return {
    async close() {
      maintenance.close()
      await device.close()
      await supervisor.stop('MWorker', WORKERS_STOP_MS)
      await supervisor.stop('', PUBLISHER_STOP_MS)
      await leave()
    },
  }
}

/** The master's keys, and key files of the users who may act for it. */
async function makeKeys(config: MasterConfig, log: Logger): Promise<void> {
  await loadMasterKeys(config)
  await writeRootKeys(config, (message) => log.warn(message))
}

function openRequestPort(
  config: MasterConfig,
  isWorking: (worker: string) => boolean,
): Promise<WorkerDevice> {
  return openDevice({
    front: {
      host: config.interface,
      port: config.ret_port,
      ipv6: config.ipv6,
      backlog: config.zmq_backlog,
      keepAlive: keepAliveOf(config),
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

/** Forget old jobs, old requests, and sessions and catalogues whose key is gone. */
async function expire(config: MasterConfig, log: Logger): Promise<void> {
  const onDamage = damageTo(log)
  const now = systemClock.now()
  const keys = new KeyStore(config.pki_dir)
  const lifetimeSeconds = config.publish_session
  const jobs = JobCache.open(jobCacheDirectory(config), { onDamage })
  const replays = ReplayGuard.open(config, systemClock, { onDamage })
  const sessions = SessionKeys.open(config.cachedir, { keys, lifetimeSeconds, onDamage })
  const catalogues = Catalogues.open(minionDataDirectory(config), { onDamage })
  try {
    if (config.keep_jobs_seconds > 0)
      await expireJobs(config, jobs, new Date(now - config.keep_jobs_seconds * 1000))
    if (lifetimeSeconds > 0) await replays.expire(now - 2 * lifetimeSeconds * 1000)
    await sessions.prune()
    await catalogues.keep(new Set(await keys.list('accepted')))
  } finally {
    await Promise.all([jobs.close(), replays.close(), sessions.close(), catalogues.close()])
  }
}

async function expireJobs(config: MasterConfig, jobs: JobCache, olderThan: Date): Promise<void> {
  for (const jid of [...jobs.expiring(olderThan)]) await removeJobFiles(config, jid)
  await jobs.expire(olderThan)
}
