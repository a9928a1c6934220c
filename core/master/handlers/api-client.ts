import { apiEntry } from '../../auth/audit/index.ts'
import { messageOf } from '../../base/errors.ts'
import { quota } from '../../base/quota.ts'
import type { ClearHandler, EncryptedHandler, Sender } from '../../channel/request-server.ts'
import { encodeNetwork } from '../../codec/index.ts'
import { tags } from '../../events/index.ts'
import { connections } from '../../jobs/connected.ts'
import { isJid } from '../../jobs/jid.ts'
import { isApiClient } from '../../keys/index.ts'
import { readApiRefusal } from '../../wire/api-refusal.ts'
import { isRecord } from '../../wire/bytes.ts'
import { GENERATION_3 } from '../../wire/envelope.ts'
import { readVia } from '../../wire/via.ts'
import type { WorkerRoom } from '../room.ts'

/** What a client of the API may ask as whoever its request says, with a token or credentials. */
const PASSED_ON = ['ping', 'publish', '_plan', 'runner', 'wheel', 'mk_token', 'get_token', '_revoke_token']
const MAX_TAG = 512
/** Lines a minute in the log about who asks for what is not for them. */
const REFUSALS = 100
/** Bytes of returns in one answer; whoever asks asks again for the others. */
const MAX_RETURNS = 8 * 1024 * 1024

type Handlers = ReadonlyMap<string, EncryptedHandler>

/**
 * Encrypted commands of our own for clients of the API on other hosts (`api_clients`), and for nobody else; and the other
 * way round: such a client is no minion, so it gets none of what minions get.
 */
export function withApiClients(
  room: WorkerRoom,
  clear: ReadonlyMap<string, ClearHandler>,
  forMinions: Handlers,
): Handlers {
  const { api_clients } = room.config
  if (api_clients.length === 0) return forMinions
  const isClient = ({ id }: Sender) => id !== undefined && isApiClient(id, api_clients)
  const hasProved = ({ verified, version }: Sender) => verified && version >= GENERATION_3
  const refusals = quota(REFUSALS, Date.now)
  const only = (handlers: Handlers, may: (sender: Sender) => boolean, why: string) =>
    [...handlers].map(([cmd, handler]): [string, EncryptedHandler] => [
      cmd,
      async (load, sender) => {
        if (may(sender)) return handler(load, sender)
        if (refusals() !== undefined) room.log.warn(`Refused ${cmd} of ${sender.id ?? 'nobody'}: ${why}.`)
        return {}
      },
    ])
  return new Map([
    ...only(forMinions, (one) => !isClient(one), 'to api_clients it is a client of the API, and no minion'),
    ...only(
      forClients(room, clear),
      (one) => isClient(one) && hasProved(one),
      'that is for clients of the API (api_clients) alone, which prove who they are',
    ),
  ])
}

function forClients(room: WorkerRoom, clear: ReadonlyMap<string, ClearHandler>): Handlers {
  return new Map<string, EncryptedHandler>([
    ['_client_request', passOn(room, clear)],
    ['_client_event', fireHook(room)],
    ['_client_returns', storedReturns(room)],
    ['_client_silence', silence(room)],
    ['_client_refusal', noteRefusal(room)],
  ])
}

/** The handler of the clear command answers. The key of a local user is none here: it never leaves its host. */
function passOn(room: WorkerRoom, clear: ReadonlyMap<string, ClearHandler>): EncryptedHandler {
  const handlers = new Map([...clear].filter(([cmd]) => PASSED_ON.includes(cmd)))
  return async ({ load, via }, { id, fingerprint }) => {
    if (!isRecord(load)) return {}
    const handler = handlers.get(String(load.cmd))
    if (!handler) {
      room.log.warn(`Refused the command ${JSON.stringify(String(load.cmd).slice(0, 100))} of ${id}.`)
      return {}
    }
    if (!(await room.replays.firstTime(fingerprint))) {
      room.log.warn(`Refused a request of ${id} that came a second time.`)
      return {}
    }
    return { reply: (await handler({ ...load, key: '' }, readVia(via, id))) ?? null }
  }
}

/** `salt/netapi/…`: hooks of the API, which others react to. */
function fireHook(room: WorkerRoom): EncryptedHandler {
  return async ({ tag, data }, { id, fingerprint }) => {
    const isHook = typeof tag === 'string' && tag.startsWith(tags.netapi) && tag.length <= MAX_TAG
    if (!isHook || tag.includes('\n') || !isRecord(data)) {
      room.log.warn(`Dropped an event of ${id}: clients of the API fire events below ${tags.netapi} only.`)
      return { fired: false }
    }
    if (!(await room.replays.firstTime(fingerprint))) return { fired: false }
    return { fired: await room.fire(tag, data) }
  }
}

/** What the event stream would have told: returns to a job, as many as one answer takes. */
function storedReturns(room: WorkerRoom): EncryptedHandler {
  return async ({ jid, ids }) => {
    const returns: Record<string, unknown> = {}
    const wanted = texts(ids)
    if (!isJid(jid) || !room.config.job_cache) return { returns, rest: [] }
    for (let [index, bytes] = [0, 0]; index < wanted.length; index++) {
      const minion = wanted[index] as string
      const ret = room.jobs.return(jid, minion)
      if (!ret) continue
      bytes += encodeNetwork(ret).length
      if (bytes > MAX_RETURNS && Object.keys(returns).length > 0)
        return { returns, rest: wanted.slice(index) }
      returns[minion] = ret
    }
    return { returns, rest: [] }
  }
}

/** Why minions are silent. */
function silence(room: WorkerRoom): EncryptedHandler {
  return async ({ ids }) => {
    const wanted = new Set(texts(ids))
    const among = (known: readonly string[]) => known.filter((id) => wanted.has(id))
    const lost = (await connections(room.config))?.lost ?? []
    const denied = await room.keys.list('denied').catch((error: unknown) => {
      room.log.debug(`Denied keys cannot be listed: ${messageOf(error)}`)
      return []
    })
    return { denied: among(denied), lost: among(lost) }
  }
}

/** What it has refused by itself. The audit log takes so much of that as of strangers. */
function noteRefusal(room: WorkerRoom): EncryptedHandler {
  return async (load, { id, fingerprint }) => {
    const refusal = readApiRefusal(load)
    if (!refusal || !(await room.replays.firstTime(fingerprint))) return { noted: false }
    await room.audit.record(apiEntry(refusal, id))
    return { noted: true }
  }
}

const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
