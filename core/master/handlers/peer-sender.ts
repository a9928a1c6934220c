import { isMinionId, type MinionId } from '../../base/minion-id.ts'
import type { Sender } from '../../channel/request-server.ts'
import { auditDecision } from '../preflight/audited-decisions.ts'
import type { WorkerContext } from '../worker/context.ts'

/** Return the sender's id if its key has proved it; otherwise audit the refusal and return undefined. */
export async function verifiedMinion(
  context: WorkerContext,
  act: 'peer' | 'peer_run',
  { id, verified }: Sender,
): Promise<MinionId | undefined> {
  if (verified && isMinionId(id)) return id
  const about = { act, user: id ?? '', claimed: true, by: 'minion' } as const
  await auditDecision(context, {
    ...about,
    verdict: 'refused',
    reason: 'The minion did not prove its identity.',
  })
  return undefined
}

/** Return the verified id of the sender; undefined also for a replayed request. */
export async function verifiedMinionOnce(
  context: WorkerContext,
  act: 'peer' | 'peer_run',
  sender: Sender,
): Promise<MinionId | undefined> {
  const id = await verifiedMinion(context, act, sender)
  if (id === undefined || (await context.replays.firstTime(sender.fingerprint))) return id
  context.log.debug(`Ignored a replayed request from ${id}.`)
  return undefined
}
