import { join } from 'node:path'
import type { MasterConfig } from '../../config/index.ts'
import type { StoreOptions } from '../../store/index.ts'
import type { TokenStore } from './contract.ts'
import { type EmbeddedTokens, openEmbeddedTokens, tokenFile } from './embedded.ts'

/** Return the directory of this master's tokens, for a local store. */
const tokenDirectory = ({ token_dir, cachedir }: Pick<MasterConfig, 'token_dir' | 'cachedir'>): string =>
  token_dir ?? join(cachedir, 'tokens')

/** Return the file with this master's tokens; undefined if the store is remote, or if no backend is configured. */
export function tokenStoreFile(config: MasterConfig): string | undefined {
  const here = isHere(config) && Object.keys(config.external_auth).length > 0
  return here ? tokenFile(tokenDirectory(config)) : undefined
}

/** Open the local store of tokens; undefined if the store is remote, or if no backend is configured. @throws SaltError STORE_FAILED */
export async function openOwnTokens(
  config: MasterConfig,
  options?: StoreOptions,
): Promise<EmbeddedTokens | undefined> {
  return tokenStoreFile(config) === undefined
    ? undefined
    : openEmbeddedTokens(tokenDirectory(config), options)
}

/** Open the store that `eauth_tokens` selects. @throws SaltError STORE_FAILED, CONFIG_INVALID */
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

/** Whether tokens are stored locally. Salt's name for that is `localfs`. */
const isHere = ({ eauth_tokens }: Pick<MasterConfig, 'eauth_tokens'>): boolean =>
  eauth_tokens === 'localfs' || eauth_tokens === 'embedded'
