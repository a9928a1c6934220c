/** Batches that the master runs (`salt --batch 10% --async`). */
import { type BatchStatus, CommandExecutionError, type Context, fn, p } from 'salt-ts'

const jid = p.any()

/**
 * List the running batches; with `all` also those that are done and still in the job cache. Newest first, with the
 * number of minions in each state.
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
 * Show the state of a batch: which minions are done, running, waiting or missing.
 *
 * @example salt-run batch.status 20261121034212345678
 */
export const status = fn({ jid }, async ({ jid }, { master }) => {
  const batch = await find(master, String(jid))
  return { ...described(batch), Minions: batch.minions }
})

/**
 * Stop a batch: it starts its job on no further minions. Minions that run it go on, and their returns are kept.
 *
 * @example salt-run batch.stop 20261121034212345678
 */
export const stop = fn({ jid }, async ({ jid }, { master }) => {
  const batch = await find(master, String(jid))
  if (await master.batches.stop(batch.jid)) return true
  throw new CommandExecutionError(`The batch ${batch.jid} is done already.`)
})

async function find({ batches }: Context['master'], jid: string): Promise<BatchStatus> {
  const batch = await batches.get(jid)
  if (batch) return batch
  throw new CommandExecutionError(
    `There is no batch ${jid} on this master. Batches of 'salt --batch' without --async run inside that command.`,
  )
}

function described({ fun, user, phase, halted }: BatchStatus): Record<string, unknown> {
  return { Function: fun, User: user, Phase: phase, ...(halted !== undefined && { Stopped: halted }) }
}

function counted({ minions }: BatchStatus): Record<string, number> {
  return Object.fromEntries(Object.entries(minions).map(([state, ids]) => [state, ids.length]))
}
