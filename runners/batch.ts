/** Batches that the master runs by itself (`salt --batch 10% --async`). */
import { type BatchStatus, CommandExecutionError, type Context, fn, p } from 'salt-ts'

const jid = p.any()

/**
 * The batches that run; with `all` also those that are done and still in the job cache. Newest first, minions counted by
 * state.
 *
 * @example salt-run batch.list all=True
 */
export const list = fn({ all: p.default(p.boolean(), false) }, async ({ all }, { master }) => {
  const rows: Record<string, unknown> = {}
  for await (const batch of master.batches.list()) {
    if (all || batch.phase !== 'done') rows[batch.jid] = { ...described(batch), Minions: counted(batch) }
  }
  return rows
})

/**
 * How one batch stands: which minions are done, run, wait, are not there.
 *
 * @example salt-run batch.status 20261121034212345678
 */
export const status = fn({ jid }, async ({ jid }, { master }) => {
  const batch = await find(master, String(jid))
  return { ...described(batch), Minions: batch.minions }
})

/**
 * Have a batch start nobody any more. Minions that run its job go on, and their returns are kept.
 *
 * @example salt-run batch.stop 20261121034212345678
 */
export const stop = fn({ jid }, async ({ jid }, { master }) => {
  const batch = await find(master, String(jid))
  if (await master.batches.stop(batch.jid)) return true
  throw new CommandExecutionError(`The batch ${batch.jid} is done: there is nothing to stop.`)
})

async function find({ batches }: Context['master'], jid: string): Promise<BatchStatus> {
  const batch = await batches.get(jid)
  if (batch) return batch
  throw new CommandExecutionError(
    `There is no batch ${jid} on this master. Those of 'salt --batch' without --async are run by that command itself.`,
  )
}

function described({ fun, user, phase, halted }: BatchStatus): Record<string, unknown> {
  return { Function: fun, User: user, Phase: phase, ...(halted !== undefined && { Stopped: halted }) }
}

function counted({ minions }: BatchStatus): Record<string, number> {
  return Object.fromEntries(Object.entries(minions).map(([state, ids]) => [state, ids.length]))
}
