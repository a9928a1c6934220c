import { messageOf } from '../../base/errors.ts'
import { isJid } from '../../base/jid.ts'
import { isMinionId } from '../../base/minion-id.ts'
import { isRecord } from '../../base/record.ts'
import type { EncryptedHandler } from '../../channel/request-server.ts'
import { jsonText } from '../../dialect/json.ts'
import { isOwnTag, isReservedTag, MAX_TAG_LENGTH, tags } from '../../events/index.ts'
import type { WorkerContext } from '../worker/context.ts'
import { addMinionsBelow, isMinionBelow } from '../worker/syndics.ts'

/**
 * `_minion_event`: puts a minion's events on the master's bus (wire protocol §7.2, §12). Tags that only the master may
 * use are dropped, a replayed request changes nothing.
 */
export function minionEventHandler(context: WorkerContext): EncryptedHandler {
  return async (load, sender) => {
    const { id } = sender
    if (!id || !sender.verified) return {}
    if (!(await context.replays.firstTime(sender.fingerprint))) return {}
    const { nonce, ...shown } = load
    if (Array.isArray(load.events)) fireAll(context, id, load.events, load.pretag)
    else if (load.data !== undefined) fireOne(context, id, load.tag, shown)
    return null
  }
}

/** Fire each entry under its tag, and again under the pretag if there is one. */
function fireAll(context: WorkerContext, id: string, events: unknown[], pretag: unknown): void {
  for (const event of events) {
    if (!isRecord(event) || typeof event.tag !== 'string') continue
    const { tag } = event
    const data = isRecord(event.data) ? event.data : { data: event.data }
    fireOne(context, id, tag, data)
    if (typeof pretag === 'string' && pretag) fireOne(context, id, `${pretag}/${tag}`, data)
  }
}

function fireOne(context: WorkerContext, id: string, tag: unknown, data: Record<string, unknown>): void {
  if (typeof tag !== 'string' || !tag || tag.length > MAX_TAG_LENGTH || tag.includes('\n')) return
  if (context.syndics.mayBe(id) && fireOfSyndic(context, id, tag, data)) return
  if (isReservedTag(tag, id)) {
    if (context.syndics.is(id)) return // it forwards all events, which are fired with its prefix
    context.log.warn(`Dropped an event from ${id}: minions may not use the tag ${tag}.`)
    return
  }
  const jid = tag.startsWith(tags.jobs) ? tag.slice(tags.jobs.length).split('/', 1)[0] : undefined
  if (isJid(jid)) {
    if (!context.senders.admits(jid, id)) return
    if (tag === tags.jobStart(jid, id)) noteStart(context, id, jid)
  }
  if (tag === tags.saltError) context.log.error(`${id} reported an error: ${jsonText(data.data)}`)
  if (tag === tags.minionStart(id)) askForCatalogue(context, id)
  context.fire(tag, isOwnTag(tag, id) ? ownData(tag, id, data) : data)
}

/** Have the minion report its catalogue again. If that cannot be stored, the catalogue on record stays in use. */
function askForCatalogue({ catalogues, log }: WorkerContext, id: string): void {
  void catalogues
    .askAgain(id)
    .catch((error: unknown) =>
      log.warn(`The catalogue of functions of ${id} is not asked for again: ${messageOf(error)}`),
    )
}

/** Store that the minion has started the job, for later look-ups. Nobody waits for it: `saltutil.find_job` reports the same. */
function noteStart({ config, jobs, log }: WorkerContext, id: string, jid: string): void {
  if (!config.job_cache) return
  void jobs
    .noteStart(jid, id)
    .catch((error: unknown) =>
      log.debug(`The start of job ${jid} on ${id} was not stored: ${messageOf(error)}`),
    )
}

/** Set the id in the data of a minion's event. Under a job's tag also drop members that would make it look like a return. */
function ownData(tag: string, id: string, data: Record<string, unknown>): Record<string, unknown> {
  if (!tag.startsWith(tags.jobs)) return { ...data, id }
  const { return: _return, minions: _minions, ...progress } = data
  return { ...progress, id }
}

/** Tags of events about a minion in a job, as `salt/job/<jid>/prog/<id>/0`. */
const OF_MINION = /^salt\/job\/(\d{20}[^/]*)\/(prog|start|stored|delivered|expired|cancelled)\/([^/]+)/

/**
 * Handle events that only a syndic may send (wire protocol §16): the list of minions that it speaks for in a job, and job events
 * of these minions. Returns whether the event was one of them.
 */
function fireOfSyndic(
  context: WorkerContext,
  syndic: string,
  tag: string,
  data: Readonly<Record<string, unknown>>,
): boolean {
  if (tag === tags.syndicStart(syndic) || tag === tags.syndicStartLegacy) {
    void context.syndics.note(syndic).catch((error: unknown) => context.log.warn(messageOf(error)))
    return false
  }
  if (isJid(tag) && Array.isArray(data.minions)) {
    void expect(context, syndic, tag, data.minions).catch((error: unknown) =>
      context.log.warn(messageOf(error)),
    )
    return true
  }
  const [, jid, , id] = OF_MINION.exec(tag) ?? []
  if (jid === undefined || id === undefined || context.syndics.below.syndicOf(id) !== syndic) return false
  if (!isMinionBelow(context, syndic, id) || !context.senders.admits(jid, id)) return false
  context.fire(tag, ownData(tag, id, { ...data }))
  return true
}

/** Expect returns from the minions that a syndic of Python Salt names for a job of this master. */
async function expect(
  context: WorkerContext,
  syndic: string,
  jid: string,
  ids: readonly unknown[],
): Promise<void> {
  const minions = ids.filter(isMinionId).filter((id) => isMinionBelow(context, syndic, id))
  if (minions.length === 0 || !context.jobs.record(jid)) return
  await addMinionsBelow(context, syndic, { jid, minions })
}
