/** Entry of the process of one runner or wheel function that runs in the background. */
import { messageOf, traceOf } from '../../base/errors.ts'
import type { MasterConfig } from '../../config/index.ts'
import { openJobCache } from '../../jobs/open-job-cache.ts'
import { openLoader } from '../../loader/index.ts'
import { openDaemonLog } from '../../log/index.ts'
import { connectParent } from '../../process/parent.ts'
import type { FromRun, FunctionRun, ToRun } from '../../runs/background.ts'
import { LocalClient } from '../local/local-client.ts'
import { FunctionClient } from './function-client.ts'
import { killAfterTimeout, watchTermination } from './run-endings.ts'

async function run(given: FunctionRun): Promise<void> {
  const { kind, jid, fun, args, kwargs, words, user, owner, ownJobs, config } = given
  process.title = `salt-run ${kind} ${fun} ${jid}`
  const { signal } = watchTermination(`${kind} ${fun}`)
  killAfterTimeout(`${kind} ${fun}`, config.runner_timeout, true)
  const log = openDaemonLog('salt-run', config)
  const client = new FunctionClient(kind, { config, log, user, owner, ownJobs })
  try {
    const result = await client.run(fun, args, kwargs, {
      jid,
      words,
      signal,
      store: true,
      ownProcess: 'background',
      onStarted: () => parent.send({ type: 'started' }),
    })
    await client
      .close()
      .catch((error: unknown) => log.debug(`The client of a run could not be closed: ${messageOf(error)}`))
    await parent.send({ type: 'ended', return: result.return, success: result.success })
    process.exit(0)
  } catch (error) {
    // What the function throws is its result; this is a failure of what surrounds it, as of a full disk.
    log.error(`The ${kind} function ${fun} with jid ${jid} could not be run to its end: ${traceOf(error)}`)
    await parent.send({ type: 'ended', return: messageOf(error), success: false })
    process.exit(1)
  }
}

/** Load what every run needs once, ahead of time: with built-in functions only and without side effects. */
async function warmUp(config: MasterConfig): Promise<void> {
  const log = openDaemonLog('salt-run', config)
  const builtIn = { ...config, runner_dirs: [], wheel_dirs: [], module_dirs: [], extension_modules: '' }
  const attempts = [
    openLoader('runners', { config: builtIn, log }).get('test.arg'),
    openLoader('wheel', { config: builtIn, log }).get('key.list_all'),
    LocalClient.connect(config).then((client) => client.close()),
    config.runner_returns && openJobCache(config).close(),
  ]
  await Promise.allSettled(attempts)
}

let isRunning = false
const parent = connectParent<ToRun, FromRun>({
  onMessage: (message) => {
    if (message.type === 'warm_up') return void warmUp(message.config).catch(() => {})
    isRunning = true
    void run(message.run)
  },
  /** A run goes on without the process that started it. */
  onGone: () => {
    if (!isRunning) process.exit(1)
  },
})
