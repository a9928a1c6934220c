/** Entry of an MWorker: answers requests that the supervisor's device hands over. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '../base/clock.ts'
import { Disposer } from '../base/disposer.ts'
import { messageOf } from '../base/errors.ts'
import type { Decision } from '../channel/sign-in-server.ts'
import { EventBus, masterEventSockets } from '../events/index.ts'
import { createJidSource } from '../jobs/jid.ts'
import { JobCache } from '../jobs/job-cache.ts'
import { MinionData } from '../jobs/minion-data.ts'
import { jobCacheDirectory, minionDataDirectory, replayDirectory } from '../jobs/paths.ts'
import { createKeyPolicy, KeyStore, loadMasterKeys, RootKeys, SessionKeys } from '../keys/index.ts'
import { openStore } from '../store/index.ts'
import { openMatchers } from '../targets/open-match.ts'
import { openWorker } from '../transport/device.ts'
import { openQueueSender } from '../transport/zeromq/queue.ts'
import type { SignInRequest } from '../wire/sign-in.ts'
import { Access } from './access.ts'
import { type ChildPart, type ChildStart, runChild } from './child.ts'
import { publishQueue, rotationFlag, workersBackend } from './paths.ts'
import { packJob } from './publisher.ts'
import { ReplayGuard } from './replay-guard.ts'
import type { WorkerRoom } from './room.ts'
import { createWorker } from './worker.ts'

async function open(start: ChildStart): Promise<ChildPart> {
  const { name, config, aesKeys, log } = start
  const disposer = new Disposer()
  const masterKeys = await loadMasterKeys(config)
  const keys = new KeyStore(config.pki_dir)
  const sessions = disposer.own(
    SessionKeys.open(config.cachedir, { keys, lifetimeSeconds: config.publish_session }),
  )
  const room = await openRoom(start, keys, masterKeys, disposer)
  const policy = createKeyPolicy({ config, warn: (message) => log.warn(message) })

  async function decide({ id, pub, autosignGrains }: SignInRequest): Promise<Decision> {
    const outcome = await keys.offer(id, pub, policy, autosignGrains ? { autosignGrains } : {})
    const { verdict, reason, filed } = outcome
    const say = filed || verdict === 'denied' ? log.info : log.debug
    say(`Authentication request from ${JSON.stringify(id)}: ${verdict}, because ${reason}`)
    return outcome
  }

  const answer = createWorker({ room, masterKeys, sessions, aesKeys, decide, log })
  const server = await openWorker({ backend: workersBackend(config), name })
  server.serve(answer)
  return {
    rotated: () => {},
    fire: room.fire,
    async close() {
      await server.close()
      await disposer.close()
    },
  }
}

async function openRoom(
  { config, log }: ChildStart,
  keys: KeyStore,
  { key: masterKey }: { key: WorkerRoom['masterKey'] },
  disposer: Disposer,
): Promise<WorkerRoom> {
  const bus = disposer.own(await EventBus.connect(masterEventSockets(config)))
  const queue = openQueueSender(publishQueue(config))
  disposer.defer(() => queue.close())
  const matcher = await openMatchers(config, log)
  return {
    config,
    log,
    masterKey,
    keys,
    matcher,
    jobs: disposer.own(JobCache.open(jobCacheDirectory(config))),
    minions: disposer.own(MinionData.open(minionDataDirectory(config))),
    access: new Access(config, new RootKeys(config), matcher),
    replays: new ReplayGuard(disposer.own(openStore(join(replayDirectory(config), 'replays.mdb'))), Date.now),
    publicKey: async (id) => keys.accepted(id),
    fire: (tag, data) =>
      void bus.fire(tag, data).catch((error: unknown) => log.error(`The event ${tag} was lost: ${messageOf(error)}`)),
    publish: (job, minions) => queue.send(packJob(job, minions)),
    nextJid: createJidSource(systemClock),
    requestRotation: () => writeFile(rotationFlag(config), '', { mode: 0o400 }).catch(() => {}),
  }
}

runChild(open)
