import type { AuditConfig, AuditLog } from '../auth/audit/index.ts'
import type { Log } from '../author/context.ts'
import { messageOf } from '../base/errors.ts'
import { quota } from '../base/quota.ts'
import { seldom } from '../base/seldom.ts'
import type { ApiRefusal } from '../wire/api-refusal.ts'

/** How a server of the API has written down what it refuses by itself. */
export interface Refusals {
  /** Resolves when it is in the audit log of the master, or is not going to be. Never rejects. */
  note(refusal: ApiRefusal): Promise<void>
  close(): Promise<void>
}

/** Refusals a minute that are told a master on another host: so many a process writes on its own. */
const MOST = 100
const TELL_MS = 15_000

/** In the audit log of this host, which bounds them. */
export function refusalsHere(config: AuditConfig, log: Log): Refusals {
  let opened: Promise<AuditLog> | undefined
  let closed = false
  const open = async () => {
    const { AuditLog } = await import('../auth/audit/index.ts')
    return AuditLog.open(config, (problem) => log.error(problem))
  }
  return {
    async note(refusal) {
      if (closed) return
      opened ??= open()
      const { apiEntry } = await import('../auth/audit/index.ts')
      await (await opened).record(apiEntry(refusal))
    },
    async close() {
      closed = true
      await (await opened)?.close()
    },
  }
}

/** By the master on another host. */
export function refusalsThere(
  ask: (load: Readonly<Record<string, unknown>>, timeoutMs: number) => Promise<unknown>,
  log: Log,
): Pick<Refusals, 'note'> {
  const take = quota(MOST, Date.now)
  const complain = seldom((sentence) => log.warn(sentence))
  let lost = 0
  return {
    async note(refusal) {
      const before = take()
      if (before === undefined) return
      const leftOut = before + lost
      lost = 0
      try {
        await ask({ cmd: '_client_refusal', ...refusal, leftOut }, TELL_MS)
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
