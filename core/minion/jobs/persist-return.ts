import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../../author/context.ts'
import { SaltError } from '../../base/errors.ts'
import type { ReturnSpool, SpoolEntry, SpooledReturn } from '../../jobs/return-spool.ts'

export interface PersistSettings {
  readonly spool: Pick<ReturnSpool, 'add'>
  /** Send a return to its master. Resolves with its decrypted answer. */
  send(ret: SpooledReturn): Promise<unknown>
  readonly log: Log
  readonly closing: AbortSignal
}

const RETRY_MS = 1000

/**
 * Persist a return. Resolves with its entry in the spool; with undefined if the disk could not be written and the master has
 * received the return instead. Both are tried until one succeeds. Rejects with STORE_FAILED if the minion ends before; the
 * job process still has the return then.
 */
export async function persistReturn(
  ret: SpooledReturn,
  { spool, send, log, closing }: PersistSettings,
): Promise<SpoolEntry | undefined> {
  for (let reported = false; ; reported = true) {
    try {
      return await spool.add(ret)
    } catch (error) {
      if (!SaltError.is(error) || error.code !== 'STORE_FAILED' || closing.aborted) throw error
      if (!reported)
        log.error(
          `The return of job ${ret.jid} is in memory only, until the master acknowledges it or the disk can be written. ${error.message}`,
        )
    }
    const answer = await send(ret).catch(() => undefined)
    if (answer === false) log.error(`The master refused the return of job ${ret.jid}; it is dropped.`)
    if (answer === null || answer === false) return undefined
    await delay(RETRY_MS, undefined, { signal: closing }).catch(() => undefined)
  }
}
