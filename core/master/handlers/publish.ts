import { type Caller, ownerOf } from '../../auth/index.ts'
import { messageOf, SaltError } from '../../base/errors.ts'
import type { ClearHandler } from '../../channel/request-server.ts'
import type { BatchOrder } from '../../jobs/batches.ts'
import { isJid } from '../../jobs/jid.ts'
import { targetsOf } from '../../jobs/outbox-target.ts'
import { refusals } from '../../wire/envelope.ts'
import {
  type PublishLoad,
  passedOn,
  publishReplies,
  readPublish,
  shownOptions,
  TARGET_INVALID,
} from '../../wire/publish-request.ts'
import { readBatchOrder } from '../batch-order.ts'
import { checkJob, type Refusal } from '../check.ts'
import { noteDecision } from '../decisions.ts'
import { offersOf, shownTo } from '../foresight.ts'
import { type Issue, publishIssue, storeIssue } from '../issue.ts'
import { chosenJidRefusal } from '../jids.ts'
import { isPlain, judgeJob, NOT_PLAIN } from '../judge-job.ts'
import { metadataRefusal } from '../metadata-size.ts'
import { askPythonMinions } from '../python-minions.ts'
import { type Resolved, reasonForNobody, resolve, whyRefused } from '../resolve.ts'
import type { WorkerRoom } from '../room.ts'
import { deny, identify, refuse, refuseCall } from './refuse-publish.ts'

/** `publish`: authenticate, resolve, authorise, store, announce, publish (wire protocol §8.1). */
export function publishHandler(room: WorkerRoom): ClearHandler {
  return async (load, via) => {
    const claimed = readPublish(load)
    if (!claimed) {
      room.log.debug('Refused to publish: tgt, fun or user are missing, or of the wrong kind')
      return refusals.exception
    }
    const tooLarge = whyRefused(claimed)
    if (tooLarge !== undefined) return publishReplies.failed(TARGET_INVALID, tooLarge)
    const who = await identify(room, 'publish', claimed, via)
    if ('refusal' in who) return who.refusal
    const { caller } = who
    const owner = ownerOf(caller)
    const request = { ...claimed, user: caller.name }
    const expected = await resolve(room, request)
    const offers = offersOf(room, expected.minions)
    const shown = { ...request, arg: await shownTo(room, request, offers) }
    if (!isPlain(request) && !caller.unrestricted)
      return refuse(room, shown, 'SaltInvocationError', NOT_PLAIN, owner)
    const verdict = judgeJob(room.auth, caller, request, expected)
    if (!verdict.allowed) return deny(room, caller, shown, verdict, via)
    const wrong = wrongWith(room, request, caller)
    if (wrong !== undefined) return refuse(room, shown, 'SaltInvocationError', wrong, owner)
    if (!expected.minions.length) return nobody(room, request, caller, expected)
    const checked = request.check ? await checkJob(room, request, offers) : undefined
    if (checked?.everywhere) return refuseCall(room, shown, checked.refusals, owner)
    if (checked) void askPythonMinions(room, expected.minions).catch(reportTo(room))
    const onStored = (jid: string, act: 'publish' | 'batch') => {
      const { name: user, by, eauth } = caller
      const about = { fun: shown.fun, args: shown.arg, tgt: shown.tgt, options: shownOptions(shown) }
      const { rule } = verdict
      return noteDecision(room, { act, verdict: 'allowed', user, by, eauth, ...about, jid, rule, via })
    }
    const { limited } = verdict
    return publish(room, request, shown, {
      ...expected,
      owner,
      limited,
      refusals: checked?.refusals,
      onStored,
    })
  }
}

/** Why a job cannot go out as it is asked for, whatever it runs. */
const wrongWith = (room: WorkerRoom, { jid, kwargs }: PublishLoad, caller: Caller): string | undefined =>
  metadataRefusal(kwargs.metadata) ??
  (caller.unrestricted ? undefined : chosenJidRefusal(jid, room.nextJid()))

const reportTo = (room: WorkerRoom) => (error: unknown) =>
  room.log.debug(`Python minions were not asked what they offer: ${messageOf(error)}`)

/** Salt's answer, and why. */
async function nobody(room: WorkerRoom, request: PublishLoad, caller: Caller, { invalid }: Resolved) {
  const why = invalid === undefined ? { reason: await reasonForNobody(room, request, caller) } : { invalid }
  return publishReplies.noMatch(request.tgt, why)
}

/** A job that goes out. */
interface Going extends Resolved {
  readonly owner: string
  readonly limited: true | undefined
  readonly refusals?: readonly Refusal[] | undefined
  onStored(jid: string, act: 'publish' | 'batch'): Promise<void>
}

/** In waves, if that is asked for: then what is stored now stands for all of them. */
async function publish(
  room: WorkerRoom,
  request: PublishLoad,
  shown: PublishLoad,
  { owner, minions, missing, unknown, limited, refusals, onStored }: Going,
): Promise<unknown> {
  const { fun, tgt, tgtType, user, words } = request
  const ret = withExternal(request.ret, room.config)
  const extras = passedOn(request.kwargs)
  const about = { fun, tgt, tgtType, user, owner, ret, words, extras, minions, missing, unknown }
  const issue = { ...about, ...(limited && { limited }) }
  const job: Issue = { ...issue, arg: request.arg, shownArg: shown.arg }
  const order = readBatchOrder(request, job, room.config)
  if (typeof order === 'string') return refuse(room, shown, 'SaltInvocationError', order, owner)
  const stored = await store(room, job, request.jid, order)
  if ('refused' in stored) return refuse(room, shown, stored.refused, stored.message, owner)
  const noted = onStored(stored.jid, order ? 'batch' : 'publish')
  if (order) room.log.info(`User ${user} started a batch of ${String(fun)} with jid ${stored.jid}`)
  else await publishIssue(room, stored.jid, job)
  await noted // begun before the job went out
  return publishReplies.published(stored.jid, { minions, missing, unknown, refusals })
}

/** `ext_job_cache`: minions write to that returner, whatever else is asked for. */
export function withExternal(ret: string, { ext_job_cache }: WorkerRoom['config']): string {
  const names = targetsOf(ext_job_cache ? `${ret},${ext_job_cache}` : ret).map(({ name }) => name)
  return names.join(',')
}

function unusableJid(jid: string): string {
  const isTaken: boolean = isJid(jid)
  return isTaken ? `The job id ${jid} is taken.` : `'${jid.slice(0, 100)}' is not a job id (20 digits).`
}

type Stored = { readonly jid: string } | { readonly refused: string; readonly message: string }

/** A job that cannot be stored is not published. */
async function store(
  room: WorkerRoom,
  job: Issue,
  wanted: string,
  order: BatchOrder | undefined,
): Promise<Stored> {
  try {
    const jid = await storeIssue(room, job, wanted)
    if (!jid) return { refused: 'SaltInvocationError', message: unusableJid(wanted) }
    if (order) await room.jobs.batches.add(jid, order, job.minions)
    return { jid }
  } catch (error) {
    if (!SaltError.is(error)) throw error
    const message = `No command was sent, because the job could not be stored. ${error.message}`
    return { refused: 'SaltMasterError', message }
  }
}
