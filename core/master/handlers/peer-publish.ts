import { type Caller, ownerOf } from '../../auth/index.ts'
import { messageOf, SaltError } from '../../base/errors.ts'
import { isJid } from '../../base/jid.ts'
import type { MinionId } from '../../base/minion-id.ts'
import type { EncryptedHandler } from '../../channel/request-server.ts'
import { parseInput } from '../../loader/calls/words.ts'
import { expandTarget } from '../../targets/index.ts'
import { type PeerPublish, readPeerPublish } from '../../wire/peer-request.ts'
import { type PublishLoad, shownOptions } from '../../wire/publish-request.ts'
import { auditDecision } from '../preflight/audited-decisions.ts'
import { authorizeJob } from '../preflight/authorize-job.ts'
import { maskedJobArguments, offeredCatalogues } from '../preflight/preflight-job.ts'
import { resolveTarget } from '../preflight/resolve-target.ts'
import type { WorkerContext } from '../worker/context.ts'
import { PeerWaits } from '../worker/peer-waits.ts'
import { publishJob, storeJobToPublish } from '../worker/publish-job.ts'
import { verifiedMinion, verifiedMinionOnce } from './peer-sender.ts'
import { peerTargetRefusal } from './peer-target.ts'
import { withExtJobCache } from './publish-allowed-job.ts'

/** The published job, or the reason why none was published. */
type PeerPublishResult =
  | { readonly jid: string; readonly minions: readonly string[] }
  | { readonly refused: string; readonly rule?: string | undefined }

/** Return a refusal. Python minions interpret anything but an empty map as a published job. */
const refusal = ({ explain }: Pick<PeerPublish, 'explain'>, reason: string): object =>
  explain ? { refused: { reason } } : {}

const NOT_READABLE = 'The function or the target is missing, or of the wrong type.'

/**
 * `minion_pub`, `minion_publish`, `pub_ret` (wire protocol §7.2): minions publish jobs that the option `peer` allows. Their
 * keys must prove their ids.
 */
export function peerPublishHandlers(context: WorkerContext): [string, EncryptedHandler][] {
  const waits = new PeerWaits(context)
  const handle =
    (
      answer: (request: PeerPublish, published: Extract<PeerPublishResult, { jid: string }>) => unknown,
    ): EncryptedHandler =>
    async (load, sender) => {
      const id = await verifiedMinionOnce(context, 'peer', sender)
      if (!id) return {}
      const request = readPeerPublish(load)
      if (!request) return refusal({ explain: load.explain === true }, NOT_READABLE)
      const result = await publishFor(context, id, request)
      if ('refused' in result) return refusal(request, result.refused)
      return answer(request, result)
    }
  return [
    ['minion_pub', handle((_, { jid, minions }) => ({ jid: jid || 0, minions }))],
    ['minion_publish', handle((request, job) => waits.returns(job, request))],
    ['pub_ret', pubRet(context)],
  ]
}

async function publishFor(
  context: WorkerContext,
  id: MinionId,
  request: PeerPublish,
): Promise<PeerPublishResult> {
  const { fun, ret } = request
  const caller: Caller = { name: id, by: 'minion', groups: [] }
  const options = shownOptions({ ret, kwargs: {} })
  const about = { act: 'peer', user: id, by: 'minion', fun, tgt: request.tgt, options } as const
  const refuse = async (
    reason: string,
    details: { rule?: string | undefined; args?: readonly unknown[] } = {},
  ): Promise<PeerPublishResult> => {
    await auditDecision(context, { ...about, ...details, verdict: 'refused', reason })
    return { refused: reason }
  }
  const nested = [fun].flat().find((name) => name.startsWith('publish.'))
  if (nested !== undefined)
    return refuse(`A function published by a minion may not publish further jobs (${nested}).`)
  const target = await expandedTarget(context, request)
  if ('refused' in target) return refuse(target.refused)
  const job: PublishLoad = {
    fun,
    user: id,
    ret,
    jid: '',
    key: '',
    kwargs: {},
    timeout: undefined,
    ...target,
    arg: typeof fun === 'string' ? parseInput(request.arg, request.noParse) : request.arg,
  }
  const expected = await resolveTarget(context, job)
  if (expected.invalid !== undefined) return refuse(expected.invalid)
  const args = await maskedJobArguments(context, job, offeredCatalogues(context, expected.minions))
  const decision = authorizeJob(context.auth, caller, job, expected)
  if (!decision.allowed) return refuse(decision.reason, { rule: decision.rule, args })
  const { minions, missing, unknown } = expected
  if (minions.length === 0) return { jid: '', minions }
  const toPublish = {
    fun,
    arg: job.arg,
    shownArg: args,
    tgt: job.tgt,
    tgtType: job.tgtType,
    user: id,
    owner: ownerOf(caller),
    ret: withExtJobCache(ret, context.config),
    extras: { id },
    minions,
    missing,
    unknown,
    ...(decision.limited && { limited: decision.limited }),
  }
  const jid = await storeJobToPublish(context, toPublish)
  if (!jid) return refuse('The job could not be stored.')
  const noted = auditDecision(context, { ...about, verdict: 'allowed', args, jid, rule: decision.rule })
  await publishJob(context, jid, toPublish)
  await noted
  return { jid, minions }
}

async function expandedTarget(
  context: WorkerContext,
  { tgt, tgtType }: PeerPublish,
): Promise<{ readonly tgt: unknown; readonly tgtType: string } | { readonly refused: string }> {
  try {
    const { config, log } = context
    const target = await expandTarget({ tgt, tgt_type: tgtType }, { config, log })
    const refused = peerTargetRefusal(target)
    return refused === undefined ? { tgt: target.tgt, tgtType: target.tgt_type } : { refused }
  } catch (error) {
    if (!SaltError.is(error)) throw error
    return { refused: messageOf(error) }
  }
}

/** `pub_ret`: return a job's returns so far, to the minion that published it. Others do not even learn that it exists. */
function pubRet(context: WorkerContext): EncryptedHandler {
  return async ({ jid }, sender) => {
    const id = await verifiedMinion(context, 'peer', sender)
    if (!id || !isJid(jid) || !context.config.job_cache) return {}
    if (context.jobs.load(jid)?.load.id !== id) {
      await auditDecision(context, {
        act: 'peer',
        verdict: 'refused',
        user: id,
        by: 'minion',
        jid,
        reason: 'The minion asked for the returns of a job that it did not publish.',
      })
      return {}
    }
    const returns = [...context.jobs.returns(jid)]
    return Object.fromEntries(
      returns.map(([minion, ret]) => [
        minion,
        { ret: ret.return, ...(ret.out !== undefined && { out: ret.out }) },
      ]),
    )
  }
}
