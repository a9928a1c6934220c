import { openTokenStore, Tokens } from '../auth/index.ts'
import type { TokenAdmin } from '../author/master.ts'
import { systemClock } from '../base/clock.ts'
import type { MasterConfig } from '../config/index.ts'
import { makeToken } from './external-auth.ts'

/** Tokens of `external_auth`: made by the running master, removed where it keeps them. */
export function createTokenAdmin(config: MasterConfig): TokenAdmin {
  return {
    make: (credentials) => makeToken(config, credentials),
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
