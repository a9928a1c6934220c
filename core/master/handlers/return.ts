import { ownerOf } from '../../auth/index.ts'
import { isJid } from '../../base/jid.ts'
import { isMinionId, type MinionId } from '../../base/minion-id.ts'
import { maskSecretWords } from '../../base/secret-words.ts'
import type { EncryptedHandler } from '../../channel/request-server.ts'
import { isSignedBy } from '../../wire/message-signature.ts'
import { storeJob } from '../preflight/jids.ts'
import type { WorkerContext } from '../worker/context.ts'
import { writePythonJobFiles } from '../worker/python-job-files.ts'
import { takeArgspecs } from '../worker/python-minions.ts'
import { takeReturn } from '../worker/take-return.ts'

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
    if (isJid(ret.jid) && !(await context.senders.admitsReturn(ret.jid, id))) return false
    await takeReturn(context, jid, id, ret, start)
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
