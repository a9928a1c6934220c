import { setTimeout as delay } from 'node:timers/promises'
import { ownerOf } from '../../auth/index.ts'
import { SaltError } from '../../base/errors.ts'
import { isMinionId, type MinionId } from '../../base/minion-id.ts'
import { maskSecretWords } from '../../base/secret-words.ts'
import { type EncryptedHandler, NotAcknowledged } from '../../channel/request-server.ts'
import { tags } from '../../events/index.ts'
import { isJid } from '../../jobs/jid.ts'
import { isSignedBy } from '../../wire/message-signature.ts'
import { fireReturn } from '../announcements.ts'
import { storeJob } from '../jids.ts'
import { takeAnswer } from '../python-minions.ts'
import { showJob, showReturn } from '../python-view.ts'
import { countReturn } from '../return-metrics.ts'
import type { WorkerRoom } from '../room.ts'

/** While the store is full, a return waits so long for room before its sender is told to come again. */
const PATIENCE_MS = 40_000
const RETRY_MS = 1000
/** So many may wait at once in one worker, which has other requests to answer; more are sent away at once. */
const MAX_WAITING = 64
let waiting = 0

/**
 * `_return`: commit, announce, acknowledge, in this order (wire protocol §10.5). A duplicate is acknowledged only, and
 * so is the same message again where there is nothing stored to know it by. Of a minion that was not asked it is refused
 * for good: its sender need not come again.
 */
export function returnHandler(room: WorkerRoom): EncryptedHandler {
  return async (load, { fingerprint }) => {
    const start = Date.now()
    const { nonce, ...ret } = load
    const { id } = ret
    if (ret.fun_args !== undefined) ret.fun_args = maskSecretWords(ret.fun_args, room.config)
    if (!isMinionId(id) || !('return' in ret) || typeof ret.jid !== 'string') return null
    if (!(await signatureAllows(room, load, id))) return false
    if (await takeAnswer(room, id, ret)) return null
    const isKept = room.config.job_cache && ret.jid !== 'nocache'
    if (!isKept && !(await room.replays.firstTime(fingerprint))) return null
    const jid = ret.jid === 'req' ? await standalone(room, ret, fingerprint) : ret.jid
    if (jid !== 'nocache' && !isJid(jid)) return null
    if (isJid(ret.jid) && !room.senders.admits(ret.jid, id)) return false
    const outcome = isKept ? await commit(room, jid, id, { ...ret, jid }) : 'stored'
    countReturn(room.meter, jid, ret, outcome)
    if (outcome === 'conflict') {
      room.log.warn(
        `${id} returned job ${jid} a second time with another result; the first one is kept. Are there two minions with ` +
          'that id and its key, one a copy of the other?',
      )
    }
    if (outcome !== 'stored') return null
    const { fun, retcode } = ret
    if (isJid(jid)) room.tracer?.note({ part: 'return', jid, fun, minion: id, start, retcode })
    if (isKept) await showReturn(room, jid, id, ret)
    return announce(room, jid, id, { ...ret, jid })
  }
}

/** `require_minion_sign_messages` and `drop_messages_signature_fail`; without them a signature is only looked at. */
async function signatureAllows(
  room: WorkerRoom,
  load: Record<string, unknown>,
  id: MinionId,
): Promise<boolean> {
  const { require_minion_sign_messages: required, drop_messages_signature_fail: drop } = room.config
  const isSigned = load.sig !== undefined
  if (isSigned && isSignedBy(load, await room.publicKey(id))) return true
  if (!isSigned && !required) return true
  const wrong = isSigned ? 'has a wrong signature' : 'is not signed (require_minion_sign_messages)'
  room.log.error(`The return of ${id} for job ${load.jid} ${wrong}.`)
  return isSigned && !drop
}

/** The acknowledgement does not wait for it: what is stored will be announced, if need be by another worker. */
function announce(room: WorkerRoom, jid: string, id: string, ret: Record<string, unknown>): null {
  room.log.info(`Got return from ${id} for job ${jid}`)
  void fireReturn(room, jid, id, ret)
  return null
}

/**
 * Returns of one-shot calls and scheduled jobs have no job yet: it is made from the return, once, and not announced. It is the
 * minion's, whatever user the return names.
 */
async function standalone(
  room: WorkerRoom,
  ret: Record<string, unknown>,
  fingerprint: Uint8Array,
): Promise<string | undefined> {
  const id = String(ret.id)
  if (!isFunctions(ret.fun)) return undefined
  Object.assign(ret, { arg: ret.fun_args ?? [], tgt_type: 'glob', tgt: id })
  const { fun, arg, tgt, tgt_type } = ret
  const known = room.replays.jobOf(fingerprint)
  if (known) return known
  const owner = ownerOf({ name: id, by: 'minion' })
  const job = { load: { fun, arg, tgt, tgt_type, user: id, owner, ret: '' }, minions: [id] }
  const jid = await storeJob(room, job)
  if (jid && room.config.python_job_cache) await showJob(room, jid, job)
  return jid && room.replays.keepJob(fingerprint, jid)
}

const isFunctions = (fun: unknown): boolean =>
  typeof fun === 'string' || (Array.isArray(fun) && fun.every((name) => typeof name === 'string'))

/** A full disk means no acknowledgement: wait for room, then have the sender come again. */
async function commit(room: WorkerRoom, jid: string, id: string, ret: Record<string, unknown>) {
  const { cmd, ...row } = ret
  const until = performance.now() + PATIENCE_MS
  for (let reported = false; ; reported = true) {
    try {
      return await room.jobs.saveReturn(jid, id, row)
    } catch (error) {
      if (!SaltError.is(error)) throw error
      if (!reported) reportFull(room, jid, id, error)
      if (performance.now() > until || waiting >= MAX_WAITING) throw new NotAcknowledged(error.message)
      waiting++
      await delay(RETRY_MS).finally(() => waiting--)
    }
  }
}

function reportFull(room: WorkerRoom, jid: string, id: string, error: SaltError): void {
  room.log.error(`The return of ${id} for job ${jid} could not be stored: ${error.message}`)
  room.fire(tags.jobError(jid), { jid, id, error: { name: error.code, message: error.message } })
}
