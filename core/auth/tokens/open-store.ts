import { join } from 'node:path'
import type { MasterConfig } from '../../config/index.ts'
import type { StoreOptions } from '../../store/index.ts'
import type { TokenStore } from './contract.ts'
import { openEmbeddedTokens, tokenFile } from './embedded.ts'

/** Where the tokens of this master are kept, if that is here. */
const tokenDirectory = ({ token_dir, cachedir }: Pick<MasterConfig, 'token_dir' | 'cachedir'>): string =>
  token_dir ?? join(cachedir, 'tokens')

/** The file with the tokens of this master; undefined if they are kept elsewhere, or there are none to be. */
export function tokenStoreFile(config: MasterConfig): string | undefined {
  const here = isHere(config) && Object.keys(config.external_auth).length > 0
  return here ? tokenFile(tokenDirectory(config)) : undefined
}

/** The store that `eauth_tokens` names. @throws SaltError STORE_FAILED, CONFIG_INVALID */
export async function openTokenStore(config: MasterConfig, options?: StoreOptions): Promise<TokenStore> {
  if (isHere(config)) return openEmbeddedTokens(tokenDirectory(config), options)
  const { openRedisTokens } = await import('./redis.ts')
  return openRedisTokens({
    host: config.eauth_redis_host,
    port: config.eauth_redis_port,
    db: config.eauth_redis_db,
    user: config.eauth_redis_user || undefined,
    password: config.eauth_redis_password || undefined,
    tls: config.eauth_redis_tls,
    cluster: config.eauth_tokens === 'rediscluster',
  })
}

/** Salt's word for files of its own. */
const isHere = ({ eauth_tokens }: Pick<MasterConfig, 'eauth_tokens'>): boolean =>
  eauth_tokens === 'localfs' || eauth_tokens === 'embedded'
