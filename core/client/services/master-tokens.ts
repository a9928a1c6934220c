import { openTokenStore, Tokens } from '../../auth/index.ts'
import type { TokenAdmin } from '../../author/master.ts'
import { systemClock } from '../../base/clock.ts'
import type { MasterConfig } from '../../config/index.ts'
import { obtainToken } from '../local/external-auth.ts'

/** Offer tokens of `external_auth`: the running master creates them; they are removed from its store directly. */
export function createTokenAdmin(config: MasterConfig): TokenAdmin {
  return {
    make: (credentials) => obtainToken(config, credentials),
    async remove(token) {
      const open = () => openTokenStore(config)
      const tokens = new Tokens({ clock: systemClock, open, isCurrent: () => true })
      try {
        return await tokens.revoke(token)
      } finally {
        await tokens.close()
      }
    },
  }
}
