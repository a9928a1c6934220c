import { setTimeout as delay } from 'node:timers/promises'
import { ownerOf } from '../../auth/index.ts'
import { SaltError } from '../../base/errors.ts'
import { isJid } from '../../base/jid.ts'
import { isMinionId, type MinionId } from '../../base/minion-id.ts'
import { maskSecretWords } from '../../base/secret-words.ts'
import { type EncryptedHandler, NotAcknowledged } from '../../channel/request-server.ts'
import { tags } from '../../events/index.ts'
import { isSignedBy } from '../../wire/message-signature.ts'
import { countReturn } from '../metrics/return-metrics.ts'
import { storeJob } from '../preflight/jids.ts'
import { fireReturn } from '../worker/announcements.ts'
import type { WorkerContext } from '../worker/context.ts'
import { writePythonJobFiles, writePythonReturnFiles } from '../worker/python-job-files.ts'
import { takeArgspecs } from '../worker/python-minions.ts'

/** While the disk is full, a return waits this long before the minion is asked to send it again. */
const MAX_WAIT_MS = 40_000
const RETRY_MS = 1000
/** Limits the returns that wait in one worker at once; for further ones the minion is asked at once to send them again. */
const MAX_WAITING = 64
let waiting = 0

/**
 * `_return`: commit, announce, acknowledge, in this order (wire protocol §10.5). A duplicate is acknowledged only; where
 * returns are not stored, it is recognized as a replayed message. The reply `null` acknowledges the return; `false` refuses
 * it, as that of a minion that the job was not sent to; after an error the minion sends it again.
 */
export function returnHandler(context: WorkerContext): EncryptedHandler {
  return async (load, { fingerprint }) => {
    const start = Date.now()
    const { nonce, ...ret } = load
    const { id } = ret
    if (ret.fun_args !== undefined) ret.fun_args = maskSecretWords(ret.fun_args, context.config)
    if (!isMinionId(id) || !('return' in ret) || typeof ret.jid !== 'string') return null
    if (!(await signatureAllows(context, load, id))) return false
    if (await takeArgspecs(context, id, ret)) return null
    const isKept = context.config.job_cache && ret.jid !== 'nocache'
    if (!isKept && !(await context.replays.firstTime(fingerprint))) return null
    // A job that no master has published has its target from here.
    if (ret.jid === 'req') Object.assign(ret, { arg: ret.fun_args ?? [], tgt_type: 'glob', tgt: id })
    const jid = ret.jid === 'req' ? await createOwnJob(context, ret, fingerprint) : ret.jid
    if (jid !== 'nocache' && !isJid(jid)) return null
    if (isJid(ret.jid) && !context.senders.admits(ret.jid, id)) return false
    const outcome = isKept ? await commit(context, jid, id, { ...ret, jid }) : 'stored'
    countReturn(context.meter, jid, ret, outcome)
    if (outcome === 'conflict') {
      context.log.warn(
        `${id} returned job ${jid} a second time with a different result; the first one is kept. Do two minions run with ` +
          'this id and key, one a copy of the other?',
      )
    }
    if (outcome !== 'stored') return null
    const { fun, retcode } = ret
    if (isJid(jid)) context.tracer?.note({ part: 'return', jid, fun, minion: id, start, retcode })
    if (isKept) await writePythonReturnFiles(context, jid, id, ret)
    announce(context, jid, id, { ...ret, jid })
    return null
  }
}

/**
 * Check the signature. An unsigned return is refused with `require_minion_sign_messages`, a wrongly signed one only with
 * `drop_messages_signature_fail`.
 */
async function signatureAllows(
  context: WorkerContext,
  load: Record<string, unknown>,
  id: MinionId,
): Promise<boolean> {
  const { require_minion_sign_messages: required, drop_messages_signature_fail: drop } = context.config
  const isSigned = load.sig !== undefined
  if (isSigned && isSignedBy(load, await context.publicKey(id))) return true
  if (!isSigned && !required) return true
  const wrong = isSigned ? 'has a wrong signature' : 'is not signed (require_minion_sign_messages)'
  const isAccepted = isSigned && !drop
  const outcome = isAccepted ? 'It is accepted (drop_messages_signature_fail is off).' : 'It is refused.'
  context.log.error(`The return of ${id} for job ${load.jid} ${wrong}. ${outcome}`)
  return isAccepted
}

/** Fire the events of the return. The acknowledgement does not wait for them: another worker fires them if this one dies. */
function announce(context: WorkerContext, jid: string, id: string, ret: Record<string, unknown>): void {
  context.log.info(`Got return from ${id} for job ${jid}`)
  void fireReturn(context, jid, id, ret)
}

/**
 * Create the job of a one-shot call or a scheduled job from its return, once; it is not announced. It belongs to the
 * minion, whatever user the return names.
 */
async function createOwnJob(
  context: WorkerContext,
  ret: Record<string, unknown>,
  fingerprint: Uint8Array,
): Promise<string | undefined> {
  const id = String(ret.id)
  if (!isFunctions(ret.fun)) return undefined
  const known = context.replays.jobOf(fingerprint)
  if (known) return known
  const owner = ownerOf({ name: id, by: 'minion' })
  const { fun, arg, tgt, tgt_type } = ret
  const job = { load: { fun, arg, tgt, tgt_type, user: id, owner, ret: '' }, minions: [id] }
  const jid = await storeJob(context, job)
  if (jid && context.config.python_job_cache) await writePythonJobFiles(context, jid, job)
  return jid && context.replays.keepJob(fingerprint, jid)
}

const isFunctions = (fun: unknown): boolean =>
  typeof fun === 'string' || (Array.isArray(fun) && fun.every((name) => typeof name === 'string'))

/** Store the return. While the disk is full, wait for room; after that, reject, so that the minion sends it again. */
async function commit(context: WorkerContext, jid: string, id: string, ret: Record<string, unknown>) {
  const { cmd, ...row } = ret
  const until = performance.now() + MAX_WAIT_MS
  for (let reported = false; ; reported = true) {
    try {
      return await context.jobs.saveReturn(jid, id, row)
    } catch (error) {
      if (!SaltError.is(error)) throw error
      if (!reported) reportFull(context, jid, id, error)
      if (performance.now() > until || waiting >= MAX_WAITING) throw new NotAcknowledged(error.message)
      waiting++
      await delay(RETRY_MS).finally(() => waiting--)
    }
  }
}

function reportFull(context: WorkerContext, jid: string, id: string, error: SaltError): void {
  context.log.error(`The return of ${id} for job ${jid} could not be stored: ${error.message}`)
  context.fire(tags.jobError(jid), { jid, id, error: { name: error.code, message: error.message } })
}
