/** Entry of the process of one runner or wheel function that runs in the background. */
import type { FromRun, FunctionRun } from '../jobs/background.ts'
import { openDaemonLog } from '../log/index.ts'
import { FunctionClient } from './function-client.ts'
import { watchEndings } from './run-process.ts'

async function run(given: FunctionRun): Promise<void> {
  const { kind, jid, fun, args, kwargs, words, user, ownJobs, config } = given
  process.title = `salt-run ${kind} ${fun} ${jid}`
  const { signal } = watchEndings(`${kind} ${fun}`)
  const log = openDaemonLog('salt-run', config)
  const client = new FunctionClient(kind, { config, log, user, ...(ownJobs && { ownJobs }) })
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

const orphaned = () => process.exit(1)
process.once('disconnect', orphaned) // before it was told what to do
process.once('message', (given: FunctionRun) => {
  process.off('disconnect', orphaned)
  void run(given)
})
