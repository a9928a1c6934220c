import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../author/context.ts'
import { SaltError } from '../base/errors.ts'
import type { ReturnSpool, SpoolEntry, SpooledReturn } from '../jobs/return-spool.ts'

export interface SafekeepingSettings {
  readonly spool: Pick<ReturnSpool, 'add'>
  /** Send a return to its master, and give its decrypted answer. */
  send(ret: SpooledReturn): Promise<unknown>
  readonly log: Log
  readonly closing: AbortSignal
}

const RETRY_MS = 1000

/**
 * Resolves when a return is safe: on disk, with its entry in the spool; or, while the disk takes nothing, with the
 * master, which has nothing more to be sent. Both are tried until one succeeds. Rejects with STORE_FAILED if the minion
 * ends before; then the job's process still has the return.
 */
export async function keepSafe(
  ret: SpooledReturn,
  { spool, send, log, closing }: SafekeepingSettings,
): Promise<SpoolEntry | undefined> {
  for (let reported = false; ; reported = true) {
    try {
      return await spool.add(ret)
    } catch (error) {
      if (!SaltError.is(error) || error.code !== 'STORE_FAILED' || closing.aborted) throw error
      if (!reported)
        log.error(
          `The return of job ${ret.jid} is in memory only, until the master has it or the disk takes it. ${error.message}`,
        )
    }
    const answer = await send(ret).catch(() => undefined)
    if (answer === false) log.error(`The master refused the return of job ${ret.jid}; it is given up.`)
    if (answer === null || answer === false) return undefined
    await delay(RETRY_MS, undefined, { signal: closing }).catch(() => undefined)
  }
}
