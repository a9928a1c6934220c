import { type AccessDecision, type Caller, ownerOf } from '../../auth/index.ts'
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
import { RunSlots } from '../worker/run-slots.ts'
import { verifiedMinionOnce } from './peer-sender.ts'

/** Limits the runners that one worker runs for minions at once; each is a process. */
const MAX_RUNS = 16
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
    const decision = await authorizeRun(context, id, { fun: request.fun, jid, ...call })
    if (!decision.allowed) return refuse(decision.reason)
    if (slots.isFull) return refuse(`${MAX_RUNS} runners are already running for minions. Try again later.`)
    context.log.info(`Minion ${id} runs runner ${request.fun} with jid ${jid}`)
    const ownJobs = !context.auth.access.seesAllJobs(callerOf(id))
    return run(slots, {
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

async function authorizeRun(
  context: WorkerContext,
  id: MinionId,
  { jid, ...call }: Run,
): Promise<AccessDecision> {
  const decision = context.auth.access.authorize(callerOf(id), [{ kind: 'runner', ...call }])
  const args = await context.shownCall('runner', call)
  const about = { act: 'peer_run', user: id, by: 'minion', fun: call.fun, args } as const
  const { rule } = decision
  const audited = decision.allowed
    ? ({ verdict: 'allowed', rule, jid } as const)
    : ({ verdict: 'refused', rule, reason: decision.reason } as const)
  await auditDecision(context, { ...about, ...audited })
  return decision
}

/** Run the function and return its value; a message if it takes too long or cannot be started. */
async function run(slots: RunSlots, { fun, jid, ...more }: FunctionRun): Promise<unknown> {
  try {
    const { end, leave } = await slots.start({ fun, jid, ...more })
    const ended = await endsWithin(end, ANSWER_MS).finally(leave)
    if (ended) return (await end).return
    return `runner ${fun} is still running; its return will be an event with the tag ${tags.runReturn(jid)} on the master.`
  } catch (error) {
    return messageOf(error)
  }
}
