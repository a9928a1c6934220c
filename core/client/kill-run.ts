import { setTimeout as delay } from 'node:timers/promises'
import { SaltError } from '../base/errors.ts'
import type { MasterConfig } from '../config/index.ts'
import { endLostRuns } from '../jobs/lost-runs.ts'
import { type NotedRun, notedRuns, runningRuns } from '../jobs/running-runs.ts'

/** So long it has to end by itself, and to store and tell its end. */
const GRACE_MS = 3_000
/** The master looks every second for ends that were not told. */
const TELL_MS = 3_000
const LOOK_MS = 50

/**
 * End a run, with all processes it started: it is told to (SIGTERM, its signal is aborted), and killed if it does not. In the
 * end its return is stored and says so. False if there is none of that id. @throws SaltError PERMISSIONS
 */
export async function killRun(config: MasterConfig, jid: string): Promise<boolean> {
  const run = (await runningRuns(config)).find((one) => one.jid === jid)
  if (!run) return false
  if (run.pid === process.pid)
    throw new SaltError('INVOCATION', `${jid} is the run that is to kill it; it ends when it is done.`)
  signal(run, 'SIGTERM')
  await until(GRACE_MS, () => isOver(config, jid))
  if (run.detached || !(await isOver(config, jid))) signal(run, 'SIGKILL') // also what it left of its processes
  await until(TELL_MS, () => isForgotten(config, jid))
  if (!(await isForgotten(config, jid))) await endLostRuns(config).catch(() => undefined) // the next master tells it
  return true
}

/** What is gone already has ended as was wanted. */
function signal({ pid, detached, fun }: NotedRun, name: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(detached && name === 'SIGKILL' ? -pid : pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EPERM')
      throw new SaltError(
        'PERMISSIONS',
        `${fun} runs as another user (process ${pid}); only that one or root can kill it.`,
      )
  }
}

const isOver = async (config: MasterConfig, jid: string): Promise<boolean> =>
  !(await runningRuns(config)).some((run) => run.jid === jid)

const isForgotten = async (config: MasterConfig, jid: string): Promise<boolean> =>
  !(await notedRuns(config)).some((run) => run.jid === jid)

async function until(ms: number, isSo: () => Promise<boolean>): Promise<void> {
  for (const deadline = performance.now() + ms; performance.now() < deadline; await delay(LOOK_MS))
    if (await isSo()) return
}
