import { type Caller, ownerOf } from '../../auth/index.ts'
import { messageOf } from '../../base/errors.ts'
import type { MinionId } from '../../base/minion-id.ts'
import { endsWithin } from '../../base/with-timeout.ts'
import type { EncryptedHandler } from '../../channel/request-server.ts'
import { tags } from '../../events/index.ts'
import { parseInput } from '../../loader/calls/words.ts'
import { splitArguments, untyped } from '../../loader/index.ts'
import type { FunctionRun } from '../../runs/background.ts'
import { type PeerRun, readPeerRun } from '../../wire/peer-request.ts'
import { auditDecision } from '../preflight/audited-decisions.ts'
import type { WorkerContext } from '../worker/context.ts'
import { type RunSlot, RunSlots } from '../worker/run-slots.ts'
import { verifiedMinionOnce } from './peer-sender.ts'

/** Limits the runners that one worker runs for minions at once; each is a process. */
const MAX_RUNS = 16
const TOO_MANY = `${MAX_RUNS} runners are already running for minions. Try again later.`
/** How long to wait for a runner: less than the deadline of a request. */
const ANSWER_MS = 45_000

/** `minion_runner` (wire protocol §7.2): run a runner for a minion, if `peer_run` allows it, and answer with its result. */
export function peerRunHandler(context: WorkerContext): EncryptedHandler {
  const slots = new RunSlots(MAX_RUNS, context)
  return async (load, sender) => {
    const id = await verifiedMinionOnce(context, 'peer_run', sender)
    const request = readPeerRun(load)
    if (!id || !request) return {}
    const refuse = (reason: string) => (request.explain ? { refused: { reason } } : {})
    const call = callOf(request)
    const jid = context.nextJid()
    const decision = await authorizeRun(context, slots, id, { fun: request.fun, jid, ...call })
    if ('reason' in decision) return refuse(decision.reason)
    context.log.info(`Minion ${id} runs runner ${request.fun} with jid ${jid}`)
    const ownJobs = !context.auth.access.seesAllJobs(callerOf(id))
    return run(decision.slot, {
      kind: 'runner',
      fun: request.fun,
      jid,
      user: id,
      owner: ownerOf(callerOf(id)),
      ownJobs,
      config: context.config,
      ...call,
    })
  }
}

/** Return the arguments as plain values: the words as typed are not sent to another process. */
function callOf({ arg, noParse }: PeerRun): Pick<FunctionRun, 'args' | 'kwargs'> {
  const { args, kwargs } = splitArguments(parseInput(arg, noParse))
  const values = Object.entries(kwargs).map(([name, value]) => [name, untyped(value)])
  return { args, kwargs: Object.fromEntries(values) }
}

const callerOf = (id: MinionId): Caller => ({ name: id, by: 'minion', groups: [] })

type Run = Pick<FunctionRun, 'fun' | 'jid' | 'args' | 'kwargs'>

/** Authorize the minion, and take a slot for the run; or return the reason for the refusal. */
async function authorizeRun(
  context: WorkerContext,
  slots: RunSlots,
  id: MinionId,
  { jid, ...call }: Run,
): Promise<{ readonly slot: RunSlot } | { readonly reason: string }> {
  const decision = context.auth.access.authorize(callerOf(id), [{ kind: 'runner', ...call }])
  const args = await context.shownCall('runner', call)
  const about = { act: 'peer_run', user: id, by: 'minion', fun: call.fun, args } as const
  if (!decision.allowed) {
    const { rule, reason } = decision
    await auditDecision(context, { ...about, verdict: 'refused', rule, reason })
    return { reason }
  }
  const slot = slots.take()
  if (!slot) {
    await auditDecision(context, { ...about, verdict: 'refused', reason: TOO_MANY })
    return { reason: TOO_MANY }
  }
  await auditDecision(context, { ...about, verdict: 'allowed', rule: decision.rule, jid })
  return { slot }
}

/** Run the function and return its value; a message if it takes too long or cannot be started. */
async function run(slot: RunSlot, { fun, jid, ...more }: FunctionRun): Promise<unknown> {
  try {
    const { end, leave } = await slot({ fun, jid, ...more })
    const ended = await endsWithin(end, ANSWER_MS).finally(leave)
    if (ended) return (await end).return
    return `runner ${fun} is still running; its return will be an event with the tag ${tags.runReturn(jid)} on the master.`
  } catch (error) {
    return messageOf(error)
  }
}
