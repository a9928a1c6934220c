/** A job process and all it started: a process group with the number of the job process. */
import { setTimeout as delay } from 'node:timers/promises'
import { isRunning, type ProcessIdentity } from '../base/process-identity.ts'

/** How often it is looked whether a job process that is to end has ended. */
const LOOK_MS = 25

/** Signal them all. Throws if the job process is over: its number may be somebody else's. */
export function signalGroup(leader: ProcessIdentity, signal: number | NodeJS.Signals): void {
  refuseOver(leader)
  process.kill(-leader.pid, signal)
}

/**
 * Tell the job process to end (SIGINT, which aborts the `signal` of its function), and kill the whole group when it has,
 * or after `ms`. Throws if it is over.
 */
export function endGroup(leader: ProcessIdentity, ms: number): void {
  refuseOver(leader)
  process.kill(leader.pid, 'SIGINT')
  void killLater(leader, ms)
}

async function killLater(leader: ProcessIdentity, ms: number): Promise<void> {
  for (const end = performance.now() + ms; isRunning(leader) && performance.now() < end; )
    await delay(LOOK_MS)
  try {
    process.kill(-leader.pid, 'SIGKILL')
  } catch {
    // it has left nothing
  }
}

function refuseOver(leader: ProcessIdentity): void {
  if (leader.pid <= 1 || !isRunning(leader)) throw new Error(`The process ${leader.pid} of the job is over.`)
}
