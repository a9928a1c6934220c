/** What cancelling a job takes: its minions, the batch that sends it, and the minions that have it queued. */
import { CommandExecutionError, type Context, type StoredJob, type Unreturned } from 'salt-ts'
import { fnmatch } from '#internal'

/** Return the minions of a job that some patterns name. @throws CommandExecutionError if one names none */
export function minionsOf(job: StoredJob, given: string | readonly string[]): string[] {
  const patterns = typeof given === 'string' ? given.split(/[\s,]+/).filter(Boolean) : given
  if (patterns.length === 0)
    throw new CommandExecutionError(
      `'minions' names no minion. Nothing was cancelled. Leave it out to cancel job ${job.jid} for all its minions.`,
    )
  const named = patterns.map((pattern) => {
    const ids = job.minions.filter((id) => fnmatch(id, pattern))
    if (ids.length > 0) return ids
    throw new CommandExecutionError(`Job ${job.jid} was not sent to ${pattern}. Nothing was cancelled.`)
  })
  return [...new Set(named.flat())]
}

/** Stop a batch of the master. Resolves with the minions that it has not sent its job to, and never does; none for any other job. */
export async function stopBatch({ batches }: Context['master'], jid: string): Promise<readonly string[]> {
  await batches.stop(jid)
  const { phase, halted, minions } = (await batches.get(jid)) ?? {}
  return phase !== 'done' && halted === undefined
    ? []
    : [...(minions?.queued ?? []), ...(minions?.down ?? [])]
}

/** Return why a job is not cancelled on each of these minions; those that have returned meanwhile are left out. */
export async function reasonsAgainst(
  master: Context['master'],
  jid: string,
  minions: readonly string[],
): Promise<Record<string, string>> {
  const found = await master.jobs.unreturned(jid)
  const rows = found.filter(({ id }) => minions.includes(id)).sort((a, b) => (a.id < b.id ? -1 : 1))
  return Object.fromEntries(rows.map((one) => [one.id, reasonAgainst(one)]))
}

const reasonAgainst = ({ id, jid, state }: Unreturned): string =>
  state === 'started'
    ? `It runs there. To end it: salt ${id} saltutil.kill_job ${jid}`
    : 'The minion has not returned, and is not known to run it. If it does not have it, it does not get it any more.'

/** Seconds to wait for answers to `saltutil.cancel_job`. */
const CANCEL_SECONDS = 2

/** Cancel jobs on minions that have them and have not begun them. Resolves with those minions; none if no master runs. */
export async function cancelQueued(
  master: Context['master'],
  jids: readonly string[],
  minions: readonly string[],
): Promise<string[]> {
  if (minions.length === 0) return []
  const waits = { timeout: CANCEL_SECONDS, gatherJobTimeout: CANCEL_SECONDS }
  const job = { tgt: minions, tgtType: 'list', fun: 'saltutil.cancel_job' as const, arg: [[...jids]] }
  const done: string[] = []
  try {
    for await (const { id, return: answer } of master.run({ ...job, ...waits }))
      if (Array.isArray(answer) && answer.length > 0) done.push(id)
  } catch (error) {
    await master.progress({
      message: `Minions could not be asked for queued jobs: ${error instanceof Error ? error.message : String(error)}`,
    })
  }
  return done
}
