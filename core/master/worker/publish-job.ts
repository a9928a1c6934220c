import { messageOf } from '../../base/errors.ts'
import { tags } from '../../events/index.ts'
import { component } from '../../log/component.ts'
import { deliverUntil, type JobLoad, makeJobLoad, publishedBy } from '../../wire/publication.ts'
import { shownExecutionOptions } from '../../wire/publish-request.ts'
import type { RawArguments } from '../../wire/raw-arguments.ts'
import type { Delivery } from '../preflight/delivery.ts'
import { storeJob } from '../preflight/jids.ts'
import { narrowTarget } from '../preflight/narrow-target.ts'
import type { WorkerContext } from './context.ts'
import { writePythonJobFiles } from './python-job-files.ts'

/** Target types that match by id: such a publication can be addressed to each of its minions (wire protocol §9). */
const BY_ID = new Set(['glob', 'pcre', 'list'])

/** A job that may be published. It is stored and announced with secrets masked; only its minions get the secrets. */
export interface JobToPublish {
  readonly fun: string | readonly string[]
  readonly arg: readonly unknown[]
  readonly shownArg: readonly unknown[]
  readonly words?: RawArguments | undefined
  readonly tgt: unknown
  readonly tgtType: string
  readonly user: string
  /** The owner of the job; not sent to minions. Undefined for a batch stored by a version without owners. */
  readonly owner: string | undefined
  readonly ret: string
  /** Extras of the request that are sent to the minions. */
  readonly extras: Readonly<Record<string, unknown>>
  readonly minions: readonly string[]
  /** Ids of a list target without accepted key. */
  readonly missing: readonly string[]
  /** Members of `minions` that the target may not match: the master lacks their grains or pillar. */
  readonly unknown?: readonly string[]
  /** Syndics that get the job and will say which minions below them run it, too. */
  readonly syndics?: readonly string[]
  /** The target is narrowed to `minions`: no other minion may run the job. */
  readonly limited?: boolean
  /** Minions that are away get the job when they come (`deliver_within`). */
  readonly delivery?: Delivery | undefined
  /** The batch to which this wave belongs, together with a wanted id. The wave is not stored if the batch was stopped. */
  readonly batch?: string | undefined
}

type PublishContext = Pick<
  WorkerContext,
  'config' | 'fire' | 'jobs' | 'log' | 'meter' | 'nextJid' | 'publications' | 'publish'
>

/**
 * Store a job and return its jid; undefined if the wanted jid is taken or the batch of the job was stopped. Rejects with
 * STORE_FAILED; the job must not be published then.
 */
export async function storeJobToPublish(
  context: PublishContext,
  job: JobToPublish,
  wanted?: string,
): Promise<string | undefined> {
  const { minions, unknown, syndics: awaits, owner, delivery: deliver, batch } = job
  const shown = { cmd: 'publish', ...shownOf(job), ...shownExecutionOptions(job.extras) }
  const load = { ...shown, ...(owner !== undefined && { owner }) }
  const stored = { load, minions, unknown, awaits, deliver, batch, ...(wanted !== undefined && { wanted }) }
  const jid = await storeJob(context, stored)
  if (jid) await writePythonJobFiles(context, jid, stored)
  return jid
}

/**
 * Announce a stored job on the event bus, and publish it. If a job with `deliver_within` cannot be stored for minions that are
 * away, rejects with STORE_FAILED before anything is sent.
 */
export async function publishJob(context: PublishContext, jid: string, job: JobToPublish): Promise<void> {
  const { fun, tgt, tgtType, user, owner, minions, missing, unknown = [], syndics = [], delivery } = job
  const arg = job.shownArg
  const load = makeJobLoad({
    ...publishedBy(context.config),
    ...shownOf(job),
    ...sentTarget(job, context.config),
    arg: job.arg,
    jid,
  })
  await keep(context, load, job)
  context.fire(tags.jobPublished(jid), { minions })
  context.fire(tags.jobNew(jid), {
    jid,
    tgt_type: tgtType,
    tgt,
    user,
    fun,
    arg,
    minions,
    missing,
    ...(owner !== undefined && { owner }),
    ...(unknown.length > 0 && { unknown }),
    ...(syndics.length > 0 && { syndics }),
    ...(delivery && { ...deliverUntil(delivery), waiting: delivery.waiting }),
  })
  context.log.info(`User ${user} Published command ${String(fun)} with jid ${jid}`)
  context.log.debug('Published command details {details}', {
    details: { ...shownOf(job), ...shownExecutionOptions(job.extras), jid },
  })
  context.meter?.count('salt_master_jobs_published', [])
  await context.publish(load, BY_ID.has(tgtType) ? [...minions, ...missing] : undefined, job.words)
  component(context.log, 'channel.server').debug(`Sent payload to publish daemon. jid=${jid}`)
}

/** Keep a job for minions that are not connected. */
async function keep(
  context: PublishContext,
  load: JobLoad,
  { words, delivery }: JobToPublish,
): Promise<void> {
  try {
    await context.publications.put(load, words)
  } catch (error) {
    if (delivery) throw error
    context.log.warn(`Minions that are not connected now will not get job ${load.jid}: ${messageOf(error)}`)
  }
}

function sentTarget(
  { tgt, tgtType: tgt_type, extras, minions, limited }: JobToPublish,
  { order_masters }: PublishContext['config'],
): object {
  const selectsOthers = order_masters && tgt_type !== 'list' // below syndics, whose minions are not known here
  if (!limited || (BY_ID.has(tgt_type) && !selectsOthers)) return {}
  const { delimiter } = extras
  return narrowTarget({ tgt, tgt_type, ...(typeof delimiter === 'string' && { delimiter }) }, minions)
}

function shownOf(job: JobToPublish): Record<string, unknown> {
  const { fun, shownArg, tgt, ret, tgtType, user, extras, delivery } = job
  const shown = { fun, arg: shownArg, tgt, ret, tgt_type: tgtType, user, ...extras }
  return { ...shown, ...(delivery && deliverUntil(delivery)) }
}
