import { apiEntry } from '../../auth/audit/index.ts'
import { messageOf } from '../../base/errors.ts'
import { isJid } from '../../base/jid.ts'
import { isMinionId } from '../../base/minion-id.ts'
import { perMinuteQuota } from '../../base/quota.ts'
import { isRecord } from '../../base/record.ts'
import { lostAmong } from '../../cache/connected.ts'
import type { ClearHandler, EncryptedHandler, Sender } from '../../channel/request-server.ts'
import { encodeNetwork } from '../../codec/index.ts'
import { MAX_TAG_LENGTH, tags } from '../../events/index.ts'
import { isApiClient } from '../../keys/index.ts'
import { readApiRefusal } from '../../wire/api-refusal.ts'
import { GENERATION_3 } from '../../wire/envelope.ts'
import { readVia } from '../../wire/via.ts'
import type { WorkerContext } from '../worker/context.ts'

/** Clear commands that a client of the API may pass on for its users, each with a token or credentials. */
const PASSED_ON = ['ping', 'publish', '_plan', 'runner', 'wheel', 'mk_token', 'get_token', '_revoke_token']
/** Log at most this many refused commands per minute. */
const MAX_REFUSALS_PER_MINUTE = 100
/** Limits the returns in one answer; the client asks again for the rest. */
const MAX_RETURNS_BYTES = 8 * 1024 * 1024

type Handlers = ReadonlyMap<string, EncryptedHandler>

/**
 * Add the encrypted commands for clients of the API on other hosts (`api_clients`). Only such clients may send them, and
 * since they are not minions, they may send none of the commands for minions.
 */
export function withApiClients(
  context: WorkerContext,
  clear: ReadonlyMap<string, ClearHandler>,
  forMinions: Handlers,
): Handlers {
  const { api_clients } = context.config
  if (api_clients.length === 0) return forMinions
  const isClient = ({ id }: Sender) => id !== undefined && isApiClient(id, api_clients)
  const hasProved = ({ verified, version }: Sender) => verified && version >= GENERATION_3
  const refusals = perMinuteQuota(MAX_REFUSALS_PER_MINUTE, Date.now)
  const only = (handlers: Handlers, may: (sender: Sender) => boolean, why: string) =>
    [...handlers].map(([cmd, handler]): [string, EncryptedHandler] => [
      cmd,
      async (load, sender) => {
        if (may(sender)) return handler(load, sender)
        if (refusals() !== undefined)
          context.log.warn(`Refused ${cmd} from ${sender.id ?? 'an unnamed sender'}: ${why}.`)
        return {}
      },
    ])
  return new Map([
    ...only(
      forMinions,
      (one) => !isClient(one),
      'its id matches api_clients, so it is a client of the API and not a minion',
    ),
    ...only(
      forClients(context, clear),
      (one) => isClient(one) && hasProved(one),
      'only clients of the API (api_clients) that have proved their key may send it',
    ),
  ])
}

function forClients(context: WorkerContext, clear: ReadonlyMap<string, ClearHandler>): Handlers {
  return new Map<string, EncryptedHandler>([
    ['_client_request', passOn(context, clear)],
    ['_client_event', fireHook(context)],
    ['_client_returns', storedReturns(context)],
    ['_client_silence', silentMinions(context)],
    ['_client_refusal', recordApiRefusal(context)],
  ])
}

/** Pass the load to the handler of its clear command, without a local user's key: that is valid on the master's host only. */
function passOn(context: WorkerContext, clear: ReadonlyMap<string, ClearHandler>): EncryptedHandler {
  const handlers = new Map([...clear].filter(([cmd]) => PASSED_ON.includes(cmd)))
  return async ({ load, via }, { id, fingerprint }) => {
    if (!isRecord(load)) return {}
    const cmd = typeof load.cmd === 'string' ? load.cmd : ''
    const handler = handlers.get(cmd)
    if (!handler) {
      context.log.warn(`Refused the command ${JSON.stringify(cmd.slice(0, 100))} from ${id}.`)
      return {}
    }
    if (!(await context.replays.firstTime(fingerprint))) {
      context.log.warn(`Refused a replayed request from ${id}.`)
      return {}
    }
    return { reply: (await handler({ ...load, key: '' }, readVia(via, id))) ?? null }
  }
}

/** Fire an event of a hook of the API (`salt/netapi/…`). */
function fireHook(context: WorkerContext): EncryptedHandler {
  return async ({ tag, data }, { id, fingerprint }) => {
    const isHook = typeof tag === 'string' && tag.startsWith(tags.netapi) && tag.length <= MAX_TAG_LENGTH
    if (!isHook || tag.includes('\n') || !isRecord(data)) {
      context.log.warn(
        `Dropped an event from ${id}: clients of the API may only fire events under ${tags.netapi}.`,
      )
      return { fired: false }
    }
    if (!(await context.replays.firstTime(fingerprint))) return { fired: false }
    return { fired: await context.fire(tag, data) }
  }
}

/**
 * Answer with stored returns of a job, as many as fit in one answer, for a client that missed their events. With `run`, answer
 * with the return of a runner or wheel function, which is stored under the id of this master.
 */
function storedReturns(context: WorkerContext): EncryptedHandler {
  return async ({ jid, ids, run }) => {
    const returns: Record<string, unknown> = {}
    // Other texts than ids have not returned, and may be too long for a store.
    const wanted = run === true ? [context.config.id] : texts(ids).filter(isMinionId)
    if (!isJid(jid) || !context.config.job_cache) return { returns, rest: [] }
    for (let [index, bytes] = [0, 0]; index < wanted.length; index++) {
      const minion = wanted[index] as string
      const ret = context.jobs.return(jid, minion)
      if (!ret) continue
      bytes += encodeNetwork(ret).length
      if (bytes > MAX_RETURNS_BYTES && Object.keys(returns).length > 0)
        return { returns, rest: wanted.slice(index) }
      returns[minion] = ret
    }
    return { returns, rest: [] }
  }
}

/**
 * Answer which of the given minions have a denied key, have lost their connection, are expected to reconnect, or have a job
 * waiting for them.
 */
function silentMinions(context: WorkerContext): EncryptedHandler {
  return async ({ ids, jid }) => {
    const wanted = new Set(texts(ids))
    const waiting = isJid(jid) ? context.jobs.deliveries.takers(jid).filter((id) => wanted.has(id)) : []
    const denied = await context.keys.list('denied').catch((error: unknown) => {
      context.log.debug(`Denied keys cannot be listed: ${messageOf(error)}`)
      return []
    })
    const lost = await lostAmong(wanted, context.config)
    return { denied: denied.filter((id) => wanted.has(id)), ...lost, waiting }
  }
}

/**
 * Record a request that a client of the API has refused by itself. The audit log limits such entries like those about unknown
 * users.
 */
function recordApiRefusal(context: WorkerContext): EncryptedHandler {
  return async (load, { id, fingerprint }) => {
    const refusal = readApiRefusal(load)
    if (!refusal || !(await context.replays.firstTime(fingerprint))) return { noted: false }
    await context.audit.record(apiEntry(refusal, id))
    return { noted: true }
  }
}

const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
