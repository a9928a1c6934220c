import { setTimeout as delay } from 'node:timers/promises'
import { type Caller, ownerOf, type Verdict } from '../../auth/index.ts'
import { messageOf } from '../../base/errors.ts'
import type { MinionId } from '../../base/minion-id.ts'
import type { EncryptedHandler } from '../../channel/request-server.ts'
import { tags } from '../../events/index.ts'
import type { FunctionRun } from '../../jobs/background.ts'
import { splitArguments, untyped } from '../../loader/index.ts'
import { parseInput } from '../../loader/words.ts'
import { type PeerRun, readPeerRun } from '../../wire/peer-request.ts'
import { noteDecision } from '../decisions.ts'
import type { WorkerRoom } from '../room.ts'
import { RunSlots } from '../run-slots.ts'
import { senderOf } from './peer-sender.ts'

/** So many run at once for minions, in one worker. Each is a process. */
const MOST_RUNS = 16
/** Who waits is answered within the deadline of its request. */
const PATIENCE_MS = 45_000

/** `minion_runner` (wire protocol §7.2): minions use runners within the option `peer_run`, and get what they return. */
export function peerRunHandler(room: WorkerRoom): EncryptedHandler {
  const slots = new RunSlots(MOST_RUNS, room)
  return async (load, sender) => {
    const id = await senderOf(room, 'peer_run', sender)
    const request = readPeerRun(load)
    if (!id || !request) return {}
    const refuse = (reason: string) => (request.explain ? { refused: { reason } } : {})
    const call = callOf(request)
    const jid = room.nextJid()
    const verdict = await decide(room, id, { fun: request.fun, jid, ...call })
    if (!verdict.allowed) return refuse(verdict.reason)
    if (slots.isFull) return refuse(`${MOST_RUNS} runners run for minions already. Try again later.`)
    room.log.info(`Minion ${id} runs runner ${request.fun} with jid ${jid}`)
    const ownJobs = !room.auth.access.seesAllJobs(callerOf(id))
    return run(slots, {
      kind: 'runner',
      fun: request.fun,
      jid,
      user: id,
      owner: ownerOf(callerOf(id)),
      ownJobs,
      config: room.config,
      ...call,
    })
  }
}

/** Values alone: what they were typed as does not get to another process. */
function callOf({ arg, noParse }: PeerRun): Pick<FunctionRun, 'args' | 'kwargs'> {
  const { args, kwargs } = splitArguments(parseInput(arg, noParse))
  const values = Object.entries(kwargs).map(([name, value]) => [name, untyped(value)])
  return { args, kwargs: Object.fromEntries(values) }
}

const callerOf = (id: MinionId): Caller => ({ name: id, by: 'minion', groups: [] })

type Run = Pick<FunctionRun, 'fun' | 'jid' | 'args' | 'kwargs'>

async function decide(room: WorkerRoom, id: MinionId, { jid, ...call }: Run): Promise<Verdict> {
  const verdict = room.auth.access.judge(callerOf(id), [{ kind: 'runner', ...call }])
  const args = await room.shownCall('runner', call)
  const about = { act: 'peer_run', user: id, by: 'minion', fun: call.fun, args } as const
  const { rule } = verdict
  const outcome = verdict.allowed
    ? ({ verdict: 'allowed', rule, jid } as const)
    : ({ verdict: 'refused', rule, reason: verdict.reason } as const)
  await noteDecision(room, { ...about, ...outcome })
  return verdict
}

/** What it returns; a sentence if that takes too long, or it cannot be started. */
async function run(slots: RunSlots, { fun, jid, ...more }: FunctionRun): Promise<unknown> {
  const enough = new AbortController()
  try {
    const started = await slots.start({ fun, jid, ...more })
    const late = delay(PATIENCE_MS, undefined, { signal: enough.signal }).then(() => ({
      return: `runner ${fun} still runs; its end will be an event with the tag ${tags.runReturn(jid)} on the master.`,
    }))
    late.catch(() => {}) // nobody waits for it any more
    const { return: value } = await Promise.race([started.end, late]).finally(() => started.leave())
    return value
  } catch (error) {
    return messageOf(error)
  } finally {
    enough.abort()
  }
}
