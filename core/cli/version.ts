import { createRequire } from 'node:module'

/** Replaced by the bundler; read from the manifest where there is none. */
declare const SALT_TS_VERSION: string | undefined

export function version(): string {
  if (typeof SALT_TS_VERSION === 'string') return SALT_TS_VERSION
  return (createRequire(import.meta.url)('salt-ts/package.json') as { version: string }).version
}
