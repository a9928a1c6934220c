/** Entry of an MWorker: answers the requests that the supervisor's proxy hands over. */
import { systemClock } from '../../base/clock.ts'
import { Disposer } from '../../base/disposer.ts'
import { messageOf } from '../../base/errors.ts'
import { SteadyTime } from '../../base/steady-time.ts'
import { endsWithin } from '../../base/with-timeout.ts'
import { EventBus, masterEventSockets } from '../../events/index.ts'
import { requestRotation } from '../../keys/rotation.ts'
import { openWorker } from '../../transport/proxy.ts'
import { openQueueSender } from '../../transport/zeromq/queue.ts'
import { BatchRunner } from '../batches/batch-runner.ts'
import { packJob } from '../publisher/publisher.ts'
import { type ChildPart, type ChildStart, runChild } from '../supervision/child.ts'
import { LoginLimitClient } from '../supervision/login-limits.ts'
import { publishQueue, workersEndpoint } from '../supervision/paths.ts'
import { queuedReport } from '../supervision/queued.ts'
import { announceUnannounced } from './announcements.ts'
import type { WorkerContext } from './context.ts'
import { DeliveryKeeper } from './delivery-keeper.ts'
import { openMasterWorker } from './open-worker.ts'

/** There is always exactly one worker of this name: it does what only one process may do. */
const FIRST_WORKER = 'MWorker-0'

async function open({ name, config, aesKeys, log, meter, supervisor }: ChildStart): Promise<ChildPart> {
  const disposer = new Disposer()
  const bus = disposer.own(await EventBus.connect({ ...masterEventSockets(config), confirmed: true, log }))
  const queue = openQueueSender(publishQueue(config))
  disposer.defer(() => queue.close())
  async function fire(tag: string, data: Record<string, unknown>): Promise<boolean> {
    try {
      await bus.fire(tag, data)
      return true
    } catch (error) {
      log.error(`An event was lost: ${messageOf(error)}`) // always the same line, so that the log can count repetitions
      log.debug('The event {tag} was lost', { tag })
      return false
    }
  }
  const logins = new LoginLimitClient((message) => void supervisor.send(message))
  const { context, answer } = await openMasterWorker(
    {
      logins,
      config,
      aesKeys,
      log,
      meter,
      clock: systemClock,
      steady: new SteadyTime({ clock: systemClock, onLeap: () => {} }), // the supervisor logs it
      fire,
      onQueued: queuedReport(supervisor),
      passOn: (id, report) => void supervisor.send({ type: 'call_check', id, report }),
      publish: (...job) => queue.send(packJob(...job)),
      requestRotation: () => requestRotation(config).catch(() => {}),
    },
    disposer,
  )
  if (config.job_cache) disposer.own(announceUnannounced(context, systemClock))
  if (config.job_cache && name === FIRST_WORKER) {
    disposer.own(new BatchRunner(context, systemClock).start())
    disposer.own(new DeliveryKeeper(context).start())
    meter?.read(() => [
      ['salt_master_batches_open', context.jobs.batches.open().length, []],
      ['salt_master_jobs_waiting', context.jobs.deliveries.list().length, []],
      ['salt_master_job_cache_bytes', context.jobs.used(), []],
    ])
  }
  const checked = name === FIRST_WORKER ? checkBackends(context) : undefined
  const problems = await checked
  const server = await openWorker({ backend: workersEndpoint(config), name })
  server.serve(answer)
  return {
    problems,
    rotated: () => {},
    fire,
    mayLogIn: (decision) => logins.take(decision),
    onCallCheck: (id, report) => context.callChecks.deliver(id, report),
    async close(finishMs) {
      await server.close(finishMs)
      await disposer.close()
    },
  }
}

/** How long the start waits for the checks of eauth backends: one may be trying to reach a server that is down. */
const CHECK_MS = 3_000

/** Return the problems found in time; those found later are logged. */
async function checkBackends({ auth, log }: WorkerContext): Promise<readonly string[]> {
  let late = false
  const checked = auth.checkBackends().then((problems) => {
    if (late) for (const problem of problems) log.error(problem)
    return problems
  })
  late = !(await endsWithin(checked, CHECK_MS))
  return late ? [] : await checked
}

runChild(open)
