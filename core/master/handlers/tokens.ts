import { retryLaterReply } from '../../auth/index.ts'
import { messageOf } from '../../base/errors.ts'
import type { ClearHandler } from '../../channel/request-server.ts'
import { auditDecision } from '../preflight/audited-decisions.ts'
import type { WorkerContext } from '../worker/context.ts'

const STORE_AWAY =
  'Tokens cannot be looked up at the moment. Try again later. The reason is in the log of the master.'

/** `mk_token`, `get_token` (wire protocol §8.3), and our own `_revoke_token`, which answers whether the token existed. */
export function tokenHandlers(context: WorkerContext): [string, ClearHandler][] {
  return [
    ['mk_token', makeHandler(context)],
    [
      'get_token',
      async ({ token }) => {
        if (typeof token !== 'string') return false
        return storeAway(context, async () => (await context.auth.show(token)) ?? {})
      },
    ],
    [
      '_revoke_token',
      async ({ token }, via) => {
        if (typeof token !== 'string') return false
        const who = await context.auth.identity.of({ by: 'token', token })
        return storeAway(context, async () => {
          const isRevoked = await context.auth.tokens.revoke(token)
          if (isRevoked && 'caller' in who)
            await auditDecision(context, {
              act: 'logout',
              verdict: 'allowed',
              user: who.caller.name,
              by: 'token',
              via,
            })
          return isRevoked
        })
      },
    ],
  ]
}

/** `mk_token`: answer with an empty string, as Salt does, if authentication fails or the user may do nothing. */
function makeHandler(context: WorkerContext): ClearHandler {
  return async (load, via) => {
    const { eauth } = load
    const who = await context.auth.identity.byCredentials(eauth, load, via)
    const about = {
      act: 'login',
      by: 'eauth',
      eauth: typeof eauth === 'string' ? eauth.slice(0, 100) : '',
      via,
    } as const
    if (!('caller' in who)) {
      const { claimed: user, refused: reason, later } = who
      await auditDecision(context, { ...about, verdict: 'refused', user, claimed: true, reason })
      if (!later) return ''
      const { reason: message, ...more } = retryLaterReply(later)
      return { error: { name: 'EauthAuthenticationError', message }, ...more }
    }
    const { name: user } = who.caller
    return storeAway(context, async () => {
      const token = await context.auth.mint(who.caller, load)
      const reason = 'no rule of external_auth is for this user'
      await auditDecision(context, {
        ...about,
        user,
        ...(token ? { verdict: 'allowed' } : { verdict: 'refused', reason }),
      })
      return token ?? ''
    })
  }
}

/** Answer with an error if the token store cannot be reached, since the token may be valid then. */
async function storeAway(context: WorkerContext, ask: () => Promise<unknown>): Promise<unknown> {
  try {
    return await ask()
  } catch (error) {
    context.log.error(messageOf(error))
    return { error: { name: 'SaltMasterError', message: STORE_AWAY } }
  }
}
