import { type Caller, ownerOf } from '../../auth/index.ts'
import { messageOf, SaltError } from '../../base/errors.ts'
import type { MinionId } from '../../base/minion-id.ts'
import type { EncryptedHandler } from '../../channel/request-server.ts'
import { isJid } from '../../jobs/jid.ts'
import { parseInput } from '../../loader/words.ts'
import { expandTarget } from '../../targets/index.ts'
import { type PeerPublish, readPeerPublish } from '../../wire/peer-request.ts'
import { type PublishLoad, shownOptions } from '../../wire/publish-request.ts'
import { noteDecision } from '../decisions.ts'
import { offersOf, shownTo } from '../foresight.ts'
import { publishIssue, storeIssue } from '../issue.ts'
import { judgeJob } from '../judge-job.ts'
import { PeerWaits } from '../peer-waits.ts'
import { resolve } from '../resolve.ts'
import type { WorkerRoom } from '../room.ts'
import { provenSender, senderOf } from './peer-sender.ts'
import { whyNotForPeers } from './peer-target.ts'
import { withExternal } from './publish.ts'

/** A job that was published, or why it was not. */
type Outcome =
  | { readonly jid: string; readonly minions: readonly string[] }
  | { readonly refused: string; readonly rule?: string | undefined }

/** Python minions take anything but an empty map for a job that was published. */
const refusal = ({ explain }: Pick<PeerPublish, 'explain'>, reason: string): object =>
  explain ? { refused: { reason } } : {}

const NOT_READABLE = 'The request names no function or no target, or they are of the wrong kind.'

/**
 * `minion_pub`, `minion_publish`, `pub_ret` (wire protocol §7.2): minions publish jobs within the option `peer`, for which
 * their keys must prove who they are.
 */
export function peerPublishHandlers(room: WorkerRoom): [string, EncryptedHandler][] {
  const waits = new PeerWaits(room)
  const handle =
    (
      answer: (request: PeerPublish, outcome: Extract<Outcome, { jid: string }>) => unknown,
    ): EncryptedHandler =>
    async (load, sender) => {
      const id = await senderOf(room, 'peer', sender)
      if (!id) return {}
      const request = readPeerPublish(load)
      if (!request) return refusal({ explain: load.explain === true }, NOT_READABLE)
      const outcome = await publishFor(room, id, request)
      if ('refused' in outcome) return refusal(request, outcome.refused)
      return answer(request, outcome)
    }
  return [
    ['minion_pub', handle((_, { jid, minions }) => ({ jid: jid || 0, minions }))],
    ['minion_publish', handle((request, job) => waits.returns(job, request))],
    ['pub_ret', pubRet(room)],
  ]
}

async function publishFor(room: WorkerRoom, id: MinionId, request: PeerPublish): Promise<Outcome> {
  const { fun, ret } = request
  const caller: Caller = { name: id, by: 'minion', groups: [] }
  const options = shownOptions({ ret, kwargs: {} })
  const about = { act: 'peer', user: id, by: 'minion', fun, tgt: request.tgt, options } as const
  const refuse = async (
    reason: string,
    details: { rule?: string | undefined; args?: readonly unknown[] } = {},
  ): Promise<Outcome> => {
    await noteDecision(room, { ...about, ...details, verdict: 'refused', reason })
    return { refused: reason }
  }
  const nested = [fun].flat().find((name) => name.startsWith('publish.'))
  if (nested !== undefined) return refuse(`A minion may not have others publish jobs (${nested}).`)
  const target = await expandedTarget(room, request)
  if ('refused' in target) return refuse(target.refused)
  const job: PublishLoad = {
    ...{ fun, user: id, ret, jid: '', key: '', kwargs: {}, timeout: undefined },
    ...target,
    arg: typeof fun === 'string' ? parseInput(request.arg, request.noParse) : request.arg,
  }
  const expected = await resolve(room, job)
  if (expected.invalid !== undefined) return refuse(expected.invalid)
  const args = await shownTo(room, job, offersOf(room, expected.minions))
  const verdict = judgeJob(room.auth, caller, job, expected)
  if (!verdict.allowed) return refuse(verdict.reason, { rule: verdict.rule, args })
  const { minions, missing, unknown } = expected
  if (minions.length === 0) return { jid: '', minions }
  const issue = {
    ...{ fun, arg: job.arg, shownArg: args, tgt: job.tgt, tgtType: job.tgtType, user: id },
    owner: ownerOf(caller),
    ...{ ret: withExternal(ret, room.config), extras: { id }, minions, missing, unknown },
    ...(verdict.limited && { limited: verdict.limited }),
  }
  const jid = await storeIssue(room, issue)
  if (!jid) return refuse('The job could not be stored.')
  const noted = noteDecision(room, { ...about, verdict: 'allowed', args, jid, rule: verdict.rule })
  await publishIssue(room, jid, issue)
  await noted
  return { jid, minions }
}

async function expandedTarget(
  room: WorkerRoom,
  { tgt, tgtType }: PeerPublish,
): Promise<{ readonly tgt: unknown; readonly tgtType: string } | { readonly refused: string }> {
  try {
    const { config, log } = room
    const target = await expandTarget({ tgt, tgt_type: tgtType }, { config, log })
    const refused = whyNotForPeers(target)
    return refused === undefined ? { tgt: target.tgt, tgtType: target.tgt_type } : { refused }
  } catch (error) {
    if (!SaltError.is(error)) throw error
    return { refused: messageOf(error) }
  }
}

/** The returns there are of a job, for the minion that published it. Others learn not even that it exists. */
function pubRet(room: WorkerRoom): EncryptedHandler {
  return async ({ jid }, sender) => {
    const id = await provenSender(room, 'peer', sender)
    if (!id || !isJid(jid) || !room.config.job_cache) return {}
    if (room.jobs.load(jid)?.load.id !== id) {
      await noteDecision(room, {
        ...{ act: 'peer', verdict: 'refused', user: id, by: 'minion', jid },
        reason: 'It asked for the returns of a job that it has not published.',
      })
      return {}
    }
    const returns = [...room.jobs.returns(jid)]
    return Object.fromEntries(
      returns.map(([minion, ret]) => [
        minion,
        { ret: ret.return, ...(ret.out !== undefined && { out: ret.out }) },
      ]),
    )
  }
}
