import { laterReply } from '../../auth/index.ts'
import { messageOf } from '../../base/errors.ts'
import type { ClearHandler } from '../../channel/request-server.ts'
import { noteDecision } from '../decisions.ts'
import type { WorkerRoom } from '../room.ts'

const STORE_AWAY =
  'Tokens cannot be looked up for the moment; try again later. The log of the master says why.'

/** `mk_token`, `get_token` (wire protocol §8.3), and `_revoke_token` of our own, which says whether there was one. */
export function tokenHandlers(room: WorkerRoom): [string, ClearHandler][] {
  return [
    ['mk_token', makeHandler(room)],
    [
      'get_token',
      async ({ token }) => {
        if (typeof token !== 'string') return false
        return storeAway(room, async () => (await room.auth.show(token)) ?? {})
      },
    ],
    [
      '_revoke_token',
      async ({ token }, via) => {
        if (typeof token !== 'string') return false
        const who = await room.auth.identity.of({ by: 'token', token })
        return storeAway(room, async () => {
          const isRevoked = await room.auth.tokens.revoke(token)
          if (isRevoked && 'caller' in who)
            await noteDecision(room, {
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

/** An empty text, as in Salt, for who is not known or may do nothing. */
function makeHandler(room: WorkerRoom): ClearHandler {
  return async (load, via) => {
    const { eauth } = load
    const who = await room.auth.identity.byCredentials(eauth, load, via)
    const about = {
      act: 'login',
      by: 'eauth',
      eauth: typeof eauth === 'string' ? eauth.slice(0, 100) : '',
      via,
    } as const
    if (!('caller' in who)) {
      const { claimed: user, refused: reason, later } = who
      await noteDecision(room, { ...about, verdict: 'refused', user, claimed: true, reason })
      if (!later) return ''
      const { reason: message, ...more } = laterReply(later)
      return { error: { name: 'EauthAuthenticationError', message }, ...more }
    }
    const { name: user } = who.caller
    return storeAway(room, async () => {
      const token = await room.auth.mint(who.caller, load)
      const reason = 'nothing in external_auth is for this user'
      await noteDecision(room, {
        ...about,
        user,
        ...(token ? { verdict: 'allowed' } : { verdict: 'refused', reason }),
      })
      return token ?? ''
    })
  }
}

/** A store that is away says nothing about a token. */
async function storeAway(room: WorkerRoom, ask: () => Promise<unknown>): Promise<unknown> {
  try {
    return await ask()
  } catch (error) {
    room.log.error(messageOf(error))
    return { error: { name: 'SaltMasterError', message: STORE_AWAY } }
  }
}
