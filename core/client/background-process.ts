/** Entry of the process of one runner or wheel function that runs in the background. */
import type { FromRun, FunctionRun } from '../jobs/background.ts'
import { noteRun } from '../jobs/running-runs.ts'
import { openDaemonLog } from '../log/index.ts'
import { FunctionClient } from './function-client.ts'

async function run(given: FunctionRun): Promise<void> {
  const { kind, jid, fun, args, kwargs, words, user, config } = given
  process.title = `salt-run ${kind} ${fun} ${jid}`
  await tell({ type: 'started' })
  const log = openDaemonLog('salt-run', config)
  const stop = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort())
  const forget = await noteRun(config, { jid, fun: `${kind}.${fun}`, user, pid: process.pid })
  const client = new FunctionClient(kind, { config, log, user })
  const result = await client.run(fun, args, kwargs, { jid, words, signal: stop.signal, store: true })
  await forget()
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
