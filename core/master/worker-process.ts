/** Entry of an MWorker: answers requests that the supervisor's device hands over. */
import { setTimeout as delay } from 'node:timers/promises'
import { systemClock } from '../base/clock.ts'
import { Disposer } from '../base/disposer.ts'
import { messageOf } from '../base/errors.ts'
import { SteadyTime } from '../base/steady-time.ts'
import { EventBus, masterEventSockets } from '../events/index.ts'
import { askForRotation } from '../keys/rotation.ts'
import { openWorker } from '../transport/device.ts'
import { openQueueSender } from '../transport/zeromq/queue.ts'
import { announceForgotten } from './announcements.ts'
import { BatchKeeper } from './batches.ts'
import { type ChildPart, type ChildStart, runChild, tellSupervisor } from './child.ts'
import { publishQueue, workersBackend } from './paths.ts'
import { packJob } from './publisher.ts'
import type { WorkerRoom } from './room.ts'
import { DeskedSignIns } from './sign-in-desk.ts'

/** There is always one of this name, and never two: it does what one process has to do. */
const FIRST_WORKER = 'MWorker-0'
/** What is put into an outbox within so many milliseconds is told of once. */
const QUEUED_MS = 10

async function open({ name, config, aesKeys, log, meter }: ChildStart): Promise<ChildPart> {
  const disposer = new Disposer()
  const bus = disposer.own(await EventBus.connect({ ...masterEventSockets(config), confirmed: true, log }))
  const queue = openQueueSender(publishQueue(config))
  disposer.defer(() => queue.close())
  async function fire(tag: string, data: Record<string, unknown>): Promise<boolean> {
    try {
      await bus.fire(tag, data)
      return true
    } catch (error) {
      log.error(`An event was lost: ${messageOf(error)}`) // the same line for all: how many there are is counted
      log.debug('The event {tag} was lost', { tag })
      return false
    }
  }
  // Node opens all files of one import at once: later, and by themselves, they are few enough for a low limit of open files.
  const { openMasterWorker } = await import('./open-worker.ts')
  const signIns = new DeskedSignIns(tellSupervisor)
  const { room, answer } = await openMasterWorker(
    {
      signIns,
      config,
      aesKeys,
      log,
      meter,
      clock: systemClock,
      steady: new SteadyTime({ clock: systemClock, onLeap: () => {} }), // the supervisor tells of it
      fire,
      onQueued: soon(() => tellSupervisor({ type: 'queued' })),
      passOn: (id, verdict) => tellSupervisor({ type: 'verdict', id, verdict }),
      publish: (...job) => queue.send(packJob(...job)),
      requestRotation: () => askForRotation(config).catch(() => {}),
    },
    disposer,
  )
  if (config.job_cache) disposer.own(announceForgotten(room, systemClock))
  if (config.job_cache && name === FIRST_WORKER) {
    disposer.own(new BatchKeeper(room, systemClock).start())
    meter?.read(() => [
      ['salt_master_batches_open', room.jobs.batches.open().length, []],
      ['salt_master_job_cache_bytes', room.jobs.used(), []],
    ])
  }
  const checked = name === FIRST_WORKER ? checkBackends(room) : undefined
  const problems = await checked
  const server = await openWorker({ backend: workersBackend(config), name })
  server.serve(answer)
  return {
    problems,
    rotated: () => {},
    fire,
    maySignIn: (decision) => signIns.take(decision),
    take: (id, verdict) => room.verdicts.take(id, verdict),
    async close(finishMs) {
      await server.close(finishMs)
      await disposer.close()
    },
  }
}

/** Who starts the master is to read what is wrong; but a backend may ask a server that is away. Milliseconds. */
const CHECK_MS = 3_000

/** Sentences; what is found out later goes to the log. */
async function checkBackends({ auth, log }: WorkerRoom): Promise<readonly string[]> {
  let late = false
  const checked = auth.checkBackends().then((problems) => {
    if (late) for (const problem of problems) log.error(problem)
    return problems
  })
  const inTime = await Promise.race([checked, delay(CHECK_MS, undefined, { ref: false })])
  late = inTime === undefined
  return inTime ?? []
}

/** Once for all calls of a moment. */
function soon(act: () => void): () => void {
  let isDue = false
  return () => {
    if (isDue) return
    isDue = true
    setTimeout(() => {
      isDue = false
      act()
    }, QUEUED_MS)
  }
}

runChild(open)
