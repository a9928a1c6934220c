/** Signals to a job process and everything it started: a process group whose id is the pid of the job process. */
import { setTimeout as delay } from 'node:timers/promises'
import { isRunning, type ProcessIdentity } from '../../process/process-identity.ts'

/** Time between checks whether a job process has ended. */
const POLL_MS = 25

/** Signal the whole group. Throws if the job process has ended, since its pid may have been reused. */
export function signalGroup(leader: ProcessIdentity, signal: number | NodeJS.Signals): void {
  throwIfEnded(leader)
  process.kill(-leader.pid, signal)
}

/**
 * Send SIGINT to the job process, which aborts the `signal` of its function. Kill the whole group when the process has ended
 * or after `ms` milliseconds. Throws if the process has already ended.
 */
export function endGroup(leader: ProcessIdentity, ms: number): void {
  throwIfEnded(leader)
  process.kill(leader.pid, 'SIGINT')
  void killLater(leader, ms)
}

async function killLater(leader: ProcessIdentity, ms: number): Promise<void> {
  for (const end = performance.now() + ms; isRunning(leader) && performance.now() < end; )
    await delay(POLL_MS)
  try {
    process.kill(-leader.pid, 'SIGKILL')
  } catch {
    // no process of the group is left
  }
}

function throwIfEnded(leader: ProcessIdentity): void {
  if (leader.pid <= 1 || !isRunning(leader))
    throw new Error(`The process ${leader.pid} of the job has ended.`)
}
