import { setTimeout as delay } from 'node:timers/promises'
import { SaltError } from '../../base/errors.ts'
import type { MasterConfig } from '../../config/index.ts'
import { endLostRuns } from '../../runs/lost-runs.ts'
import { type NotedRun, notedRuns, runningRuns } from '../../runs/running-runs.ts'

/** How long a run may take to end by itself, and to store and announce its end. */
const GRACE_MS = 3_000
/** How long to wait for the master, which looks every second for ends that were not announced. */
const ANNOUNCE_MS = 3_000
const POLL_MS = 50

/**
 * End a run and all processes it started: with SIGTERM, which aborts its signal, and then SIGKILL. Its return is stored and
 * says that it was killed. False if there is no run with that id. @throws SaltError PERMISSIONS
 */
export async function killRun(config: MasterConfig, jid: string): Promise<boolean> {
  const run = (await runningRuns(config)).find((one) => one.jid === jid)
  if (!run) return false
  if (run.pid === process.pid)
    throw new SaltError('INVOCATION', `${jid} is the run that sent this request: a run cannot kill itself.`)
  signal(run, 'SIGTERM')
  await until(GRACE_MS, () => isOver(config, jid))
  if (run.detached || !(await isOver(config, jid))) signal(run, 'SIGKILL') // also processes that it left behind
  await until(ANNOUNCE_MS, () => isForgotten(config, jid))
  if (!(await isForgotten(config, jid))) await endLostRuns(config).catch(() => undefined) // the next master announces it
  return true
}

/** Send a signal. A process that is gone already is fine. */
function signal({ pid, detached, fun }: NotedRun, name: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(detached && name === 'SIGKILL' ? -pid : pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EPERM')
      throw new SaltError(
        'PERMISSIONS',
        `${fun} runs as another user (process ${pid}); only that user or root can kill it.`,
      )
  }
}

const isOver = async (config: MasterConfig, jid: string): Promise<boolean> =>
  !(await runningRuns(config)).some((run) => run.jid === jid)

const isForgotten = async (config: MasterConfig, jid: string): Promise<boolean> =>
  !(await notedRuns(config)).some((run) => run.jid === jid)

async function until(ms: number, isSo: () => Promise<boolean>): Promise<void> {
  for (const deadline = performance.now() + ms; performance.now() < deadline; await delay(POLL_MS))
    if (await isSo()) return
}
