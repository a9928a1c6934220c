import { SaltError } from '../../base/errors.ts'
import { isJid } from '../../base/jid.ts'
import type { BatchOrder } from '../../jobs/batches.ts'
import { targetsOf } from '../../outbox/outbox-target.ts'
import {
  forwardedOptionsOf,
  type PublishLoad,
  publishReplies,
  type Refusal,
  type SyndicsOfJob,
} from '../../wire/publish-request.ts'
import { readBatchOrder } from '../batches/batch-order.ts'
import { planDelivery } from '../preflight/delivery.ts'
import type { ResolvedTarget } from '../preflight/resolve-target.ts'
import type { WorkerContext } from '../worker/context.ts'
import { type JobToPublish, publishJob, storeJobToPublish } from '../worker/publish-job.ts'
import { refusePublish } from './refuse-publish.ts'

/** A job that is allowed, with its minions. */
export interface AllowedJob extends ResolvedTarget {
  readonly syndics: SyndicsOfJob
  readonly owner: string
  readonly limited: true | undefined
  readonly refusals?: readonly Refusal[] | undefined
  onStored(jid: string, act: 'publish' | 'batch'): Promise<unknown>
}

/** Store the job and publish it; a batch is only stored, and its waves are published later. */
export async function publishAllowedJob(
  context: WorkerContext,
  request: PublishLoad,
  shown: PublishLoad,
  { owner, minions, missing, unknown, syndics, limited, refusals, onStored }: AllowedJob,
): Promise<unknown> {
  const { fun, tgt, tgtType, user, words, deliverWithin } = request
  const ret = withExtJobCache(request.ret, context.config)
  const extras = forwardedOptionsOf(request.kwargs)
  const about = {
    fun,
    tgt,
    tgtType,
    user,
    owner,
    ret,
    words,
    extras,
    minions,
    missing,
    unknown,
    syndics: syndics.reporting,
  }
  const plain = { ...about, ...(limited && { limited }), arg: request.arg, shownArg: shown.arg }
  const order = readBatchOrder(request, plain, context.config)
  if (typeof order === 'string') return refusePublish(context, shown, 'SaltInvocationError', order, owner)
  const delivery = deliverWithin && !order ? await planDelivery(context, deliverWithin, minions) : undefined
  const job: JobToPublish = { ...plain, delivery }
  const stored = await store(context, job, request.jid, order)
  if ('refused' in stored) return refusePublish(context, shown, stored.refused, stored.message, owner)
  const noted = onStored(stored.jid, order ? 'batch' : 'publish')
  if (order) context.log.info(`User ${user} started a batch of ${String(fun)} with jid ${stored.jid}`)
  else if (delivery) {
    const why = await publishKept(context, stored.jid, job)
    if (why !== undefined) return refusePublish(context, shown, 'SaltMasterError', why, owner)
  } else await publishJob(context, stored.jid, job)
  await noted // begun before the job was published
  return publishReplies.published(stored.jid, { minions, missing, unknown, refusals, syndics, delivery })
}

/**
 * Publish a job that also waits for minions that are away. If it cannot be stored for them, it is not published, and the reason
 * is returned as a sentence.
 */
async function publishKept(
  context: WorkerContext,
  jid: string,
  job: JobToPublish,
): Promise<string | undefined> {
  try {
    await publishJob(context, jid, job)
    return undefined
  } catch (error) {
    if (!SaltError.is(error) || error.code !== 'STORE_FAILED') throw error
    await context.jobs.deliveries.close(jid, 'cancelled').catch(() => undefined) // else it expires
    return notStored(error)
  }
}

const notStored = (error: SaltError) =>
  `No command was sent, because the job could not be stored. ${error.message}`

/** Add the returner of `ext_job_cache` to those that the request names. */
export function withExtJobCache(ret: string, { ext_job_cache }: WorkerContext['config']): string {
  const names = targetsOf(ext_job_cache ? `${ret},${ext_job_cache}` : ret).map(({ name }) => name)
  return names.join(',')
}

function unusableJid(jid: string): string {
  const isTaken: boolean = isJid(jid)
  return isTaken ? `The job id ${jid} is taken.` : `'${jid.slice(0, 100)}' is not a job id (20 digits).`
}

type Stored = { readonly jid: string } | { readonly refused: string; readonly message: string }

/** Store a job and its batch. A job that cannot be stored is not published. */
async function store(
  context: WorkerContext,
  job: JobToPublish,
  wanted: string,
  order: BatchOrder | undefined,
): Promise<Stored> {
  try {
    const jid = await storeJobToPublish(context, job, wanted)
    if (!jid) return { refused: 'SaltInvocationError', message: unusableJid(wanted) }
    if (order) await context.jobs.batches.add(jid, order, job.minions)
    return { jid }
  } catch (error) {
    if (!SaltError.is(error)) throw error
    return { refused: 'SaltMasterError', message: notStored(error) }
  }
}
