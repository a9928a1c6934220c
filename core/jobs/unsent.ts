import type { BatchStatus } from '../author/context.ts'
import type { JobStatus } from './job-states.ts'

/**
 * Return the status of each minion of a batch that the master runs to which the job was not sent. For the others, its waves are jobs
 * of their own.
 */
export function unsent(batch: BatchStatus): Map<string, JobStatus> {
  const { queued = [], down = [] } = batch.minions
  const status = statusOf(batch)
  return new Map([...down, ...queued].map((id) => [id, status]))
}

function statusOf({ jid, phase, halted }: BatchStatus): JobStatus {
  if (halted !== undefined)
    return { state: 'cancelled', why: `The batch ended before the job was sent to this minion. ${halted}` }
  if (phase === 'done')
    return {
      state: 'unknown',
      why: 'The minion did not answer the ping of the batch. The job was not sent to it.',
      advice: 'Minion did not respond. No job was sent to it.',
    }
  const why = 'The batch has not sent the job to the minion yet.'
  const advice = `Minion did not return so far. [Waiting]\nState: waiting. ${why}\nTo stop the batch: salt-run jobs.cancel ${jid}`
  return { state: 'waiting', why, advice }
}
