import type { Log } from '../author/context.ts'
import type { Clock } from '../base/clock.ts'
import type { SaltError } from '../base/errors.ts'
import type { MasterConfig } from '../config/index.ts'
import { RootKeys } from '../keys/index.ts'
import { Access, type AccessSettings } from './access.ts'
import { openBackends } from './backends/backends.ts'
import type { Caller } from './contract.ts'
import { EvenDelay } from './even-delay.ts'
import { Identity } from './identity.ts'
import { LoginLimit, type Logins, limitOf } from './login/limit.ts'
import { createToken, tokenReply } from './make-token.ts'
import type { TokenRecord } from './tokens/contract.ts'
import { openTokenStore } from './tokens/open-store.ts'
import { rightsDigest } from './tokens/rights-digest.ts'
import { Tokens } from './tokens/tokens.ts'

export interface AuthSettings extends AccessSettings {
  readonly config: MasterConfig
  readonly clock: Clock
  readonly log: Log
  readonly onDamage?: (error: SaltError) => void
  /** Shared with other workers; by default each worker has its own. */
  readonly logins?: Logins
}

/** Authentication and authorization for one worker of a master. */
export interface Auth {
  readonly access: Access
  readonly identity: Identity
  readonly tokens: Pick<Tokens, 'revoke'>
  /** Resolves with Salt's map of a new token; undefined for a caller who may do nothing. Rejects with STORE_FAILED. */
  mint(caller: Caller, request: Readonly<Record<string, unknown>>): Promise<object | undefined>
  /** Resolves with the same map of an existing token. */
  show(token: string): Promise<object | undefined>
  /** Resolves with sentences about backends that will not work. */
  checkBackends(): Promise<string[]>
  close(): Promise<void>
}

/** Stores and backends are opened on first use, by a token or a password. */
export function openAuth(settings: AuthSettings): Auth {
  const { config, clock, log, onDamage, logins = new LoginLimit(limitOf(config)) } = settings
  const access = new Access(config, settings)
  const ownerOf = ({ name, eauth, groups, permissions }: TokenRecord): Caller => ({
    name,
    by: 'token',
    eauth,
    groups,
    ...(permissions && { permissions }),
  })
  const tokens = new Tokens({
    clock,
    open: () => openTokenStore(config, onDamage && { onDamage }),
    isCurrent: (record) =>
      Object.hasOwn(config.external_auth, record.eauth) &&
      (record.rights === undefined || record.rights === rightsDigest(access.rightsOf(ownerOf(record)))),
  })
  const backends = openBackends(config, log)
  const rootKeys = new RootKeys(config)
  return {
    access,
    tokens,
    identity: new Identity({
      config,
      rootKeys,
      access,
      backends,
      tokens,
      log,
      logins,
      delay: new EvenDelay(),
    }),
    mint: (caller, request) => createToken({ config, access, tokens }, caller, request),
    async show(token) {
      const record = await tokens.find(token)
      return record && tokenReply(token, record, access.rightsOf(ownerOf(record)).entries)
    },
    checkBackends: () => backends.check(),
    close: async () => void (await Promise.all([tokens.close(), backends.close()])),
  }
}
