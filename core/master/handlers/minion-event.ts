import { messageOf } from '../../base/errors.ts'
import type { EncryptedHandler } from '../../channel/request-server.ts'
import { isOwnTag, isReservedTag, tags } from '../../events/index.ts'
import { isJid } from '../../jobs/jid.ts'
import { isRecord } from '../../wire/bytes.ts'
import type { WorkerRoom } from '../room.ts'

const MAX_TAG = 512

/**
 * `_minion_event`: puts a minion's events on the master's bus (wire protocol §7.2, §12). Tags that only the master may
 * use are dropped, a replayed request changes nothing.
 */
export function minionEventHandler(room: WorkerRoom): EncryptedHandler {
  return async (load, sender) => {
    const { id } = sender
    if (!id || !sender.verified) return {}
    if (!(await room.replays.firstTime(sender.fingerprint))) return {}
    const { nonce, ...shown } = load
    if (Array.isArray(load.events)) fireAll(room, id, load.events, load.pretag)
    else if (load.data !== undefined) fireOne(room, id, load.tag, shown)
    return null
  }
}

/** Each entry's data goes out under its tag, and once more under the pretag if there is one. */
function fireAll(room: WorkerRoom, id: string, events: unknown[], pretag: unknown): void {
  for (const event of events) {
    if (!isRecord(event) || typeof event.tag !== 'string') continue
    const { tag } = event
    const data = isRecord(event.data) ? event.data : { data: event.data }
    fireOne(room, id, tag, data)
    if (typeof pretag === 'string' && pretag) fireOne(room, id, `${pretag}/${tag}`, data)
  }
}

function fireOne(room: WorkerRoom, id: string, tag: unknown, data: Record<string, unknown>): void {
  if (typeof tag !== 'string' || !tag || tag.length > MAX_TAG || tag.includes('\n')) return
  if (isReservedTag(tag, id)) {
    room.log.warn(`Dropped an event of ${id}: minions may not use the tag ${tag}.`)
    return
  }
  const jid = tag.startsWith(tags.jobs) ? tag.slice(tags.jobs.length).split('/', 1)[0] : undefined
  if (isJid(jid)) {
    if (!room.senders.admits(jid, id)) return
    if (tag === tags.jobStart(jid, id)) noteStart(room, id, jid)
  }
  if (tag === tags.saltError) room.log.error(`${id} reported an error: ${JSON.stringify(data.data)}`)
  if (tag === tags.minionStart(id)) void room.catalogues.askAgain(id)
  room.fire(tag, isOwnTag(tag, id) ? ownData(tag, id, data) : data)
}

/** Who looks the job up later is told. That the receipt was stored is not waited for: the minion can be asked as well. */
function noteStart({ config, jobs, log }: WorkerRoom, id: string, jid: string): void {
  if (!config.job_cache) return
  void jobs
    .noteStart(jid, id)
    .catch((error: unknown) => log.debug(`That ${id} began job ${jid} was not stored: ${messageOf(error)}`))
}

/** Under a minion's own tag the data names it; under a job's tag it cannot pass for a return or a list of minions. */
function ownData(tag: string, id: string, data: Record<string, unknown>): Record<string, unknown> {
  if (!tag.startsWith(tags.jobs)) return { ...data, id }
  const { return: _return, minions: _minions, ...progress } = data
  return { ...progress, id }
}
