import type { AuditConfig, AuditLog } from '../../auth/audit/index.ts'
import type { Log } from '../../author/context.ts'
import { messageOf } from '../../base/errors.ts'
import { onceInAWhile } from '../../base/once-in-a-while.ts'
import { perMinuteQuota } from '../../base/quota.ts'
import type { ApiRefusal } from '../../wire/api-refusal.ts'

/** Records the refusals that a server of the API makes by itself. */
export interface RefusalLog {
  /** Record a refusal in the audit log of the master. Resolves when that has succeeded or failed; never rejects. */
  note(refusal: ApiRefusal): Promise<void>
  close(): Promise<void>
}

/** Limits the refusals that are sent to a master on another host. */
const MAX_PER_MINUTE = 100
const TIMEOUT_MS = 15_000

/** Record refusals in the audit log of this host, which limits them. */
export function localRefusalLog(config: AuditConfig, log: Log): RefusalLog {
  let opened: Promise<AuditLog> | undefined
  let closed = false
  const open = async () => {
    const { AuditLog } = await import('../../auth/audit/index.ts')
    return AuditLog.open(config, (problem) => log.error(problem))
  }
  return {
    async note(refusal) {
      if (closed) return
      opened ??= open()
      const { apiEntry } = await import('../../auth/audit/index.ts')
      await (await opened).record(apiEntry(refusal))
    },
    async close() {
      closed = true
      await (await opened)?.close()
    },
  }
}

/** Have a master on another host record refusals. */
export function remoteRefusalLog(
  ask: (load: Readonly<Record<string, unknown>>, timeoutMs: number) => Promise<unknown>,
  log: Log,
): Pick<RefusalLog, 'note'> {
  const take = perMinuteQuota(MAX_PER_MINUTE, Date.now)
  const complain = onceInAWhile((sentence) => log.warn(sentence))
  let lost = 0
  return {
    async note(refusal) {
      const before = take()
      if (before === undefined) return
      const leftOut = before + lost
      lost = 0
      try {
        await ask({ cmd: '_client_refusal', ...refusal, leftOut }, TIMEOUT_MS)
      } catch (error) {
        lost += leftOut + 1
        complain(
          `What this server refuses is not in the audit log of the master: ${messageOf(error)}`,
          'refusals',
        )
      }
    },
  }
}
