import { isRecord } from '../base/record.ts'
import type { MasterConfig } from '../config/index.ts'
import { Float } from '../dialect/float.ts'
import { valueText } from '../dialect/json.ts'
import type { Access } from './access.ts'
import type { Caller } from './contract.ts'
import type { TokenRecord } from './tokens/contract.ts'
import { rightsDigest } from './tokens/rights-digest.ts'
import type { Tokens } from './tokens/tokens.ts'

type Load = Readonly<Record<string, unknown>>

export interface TokenSettings {
  readonly config: Pick<MasterConfig, 'keep_acl_in_token' | 'token_expire' | 'token_expire_user_override'>
  readonly access: Access
  readonly tokens: Tokens
}

/**
 * Make a token for an authenticated caller: Salt's map with `perms`, the caller's rights. Undefined for a caller who may do nothing.
 * Rejects with STORE_FAILED.
 */
export async function createToken(
  settings: TokenSettings,
  caller: Caller,
  request: Load,
): Promise<Load | undefined> {
  const { config, access, tokens } = settings
  const { name, eauth = '', groups } = caller
  const rights = access.rightsOf(caller)
  if (rights.rules.length === 0) return undefined
  const permissions = caller.permissions ?? (config.keep_acl_in_token ? rights.entries : undefined)
  const kept = permissions ? { permissions } : { rights: rightsDigest(rights) }
  const { token, record } = await tokens.make(
    { name, eauth, groups, ...kept },
    lifetime(config, eauth, name, request),
  )
  return tokenReply(token, record, rights.entries)
}

/** Return Salt's map (wire protocol §8.3) with `perms`. */
export function tokenReply(token: string, record: TokenRecord, perms: readonly unknown[]): Load {
  const { start, expire, name, eauth, groups, permissions } = record
  return {
    start: new Float(start),
    expire: new Float(expire),
    name,
    eauth,
    ...(groups.length > 0 && { groups }),
    ...(permissions && { auth_list: permissions }),
    token,
    perms,
  }
}

/** Return the lifetime in seconds: the requested one, if the caller may choose. */
function lifetime(
  { token_expire, token_expire_user_override: override }: TokenSettings['config'],
  eauth: string,
  name: string,
  { token_expire: given }: Load,
): number {
  const wanted = Number(valueText(given))
  const users: unknown = isRecord(override) && Object.hasOwn(override, eauth) ? override[eauth] : []
  const mayChoose = override === true || (Array.isArray(users) && users.includes(name))
  return mayChoose && Number.isFinite(wanted) && wanted > 0 ? wanted : token_expire
}
