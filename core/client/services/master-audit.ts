import type { Log } from '../../author/context.ts'
import type { AuditAdmin } from '../../author/master.ts'
import type { MasterConfig } from '../../config/index.ts'

/** Offer the audit log of the master to runners. */
export function createAuditAdmin(config: MasterConfig, log: Log): AuditAdmin {
  return {
    async verify(noted) {
      const { AuditLog, verifyAudit } = await import('../../auth/audit/index.ts')
      const audit = AuditLog.open(config, (problem) => log.warn(problem))
      try {
        return await verifyAudit(config.audit_log, await audit.end(), noted)
      } finally {
        await audit.close()
      }
    },
    async list(query = {}) {
      const { listAudit } = await import('../../auth/audit/index.ts')
      return listAudit(config.audit_log, query)
    },
  }
}
