/** Entry of the process of one runner or wheel function that runs in the background. */
import type { MasterConfig } from '../config/index.ts'
import type { FromRun, FunctionRun, ToRun } from '../jobs/background.ts'
import { openJobCache } from '../jobs/open-job-cache.ts'
import { openLoader } from '../loader/index.ts'
import { openDaemonLog } from '../log/index.ts'
import { FunctionClient } from './function-client.ts'
import { LocalClient } from './local-client.ts'
import { killAfter, watchEndings } from './run-process.ts'

async function run(given: FunctionRun): Promise<void> {
  const { kind, jid, fun, args, kwargs, words, user, owner, ownJobs, config } = given
  process.title = `salt-run ${kind} ${fun} ${jid}`
  const { signal } = watchEndings(`${kind} ${fun}`)
  killAfter(`${kind} ${fun}`, config.runner_timeout, true)
  const log = openDaemonLog('salt-run', config)
  const client = new FunctionClient(kind, { config, log, user, owner, ownJobs })
  const result = await client.run(fun, args, kwargs, {
    ...{ jid, words, signal, store: true, alone: 'background' },
    onStarted: () => tell({ type: 'started' }),
  })
  await client.close()
  await tell({ type: 'ended', return: result.return, success: result.success })
  process.exit(0)
}

/** Who started it may have left. */
function tell(message: FromRun): Promise<void> {
  return new Promise((told) => {
    if (process.connected) process.send?.(message, undefined, undefined, () => told())
    else told()
  })
}

/** What every run needs is read and has been done once, with no function of users and with no effect. */
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

const orphaned = () => process.exit(1)
process.once('disconnect', orphaned) // before it was told what to do
process.on('message', (message: ToRun) => {
  if ('warmUp' in message) return void warmUp(message.warmUp).catch(() => {})
  process.off('disconnect', orphaned)
  void run(message)
})
