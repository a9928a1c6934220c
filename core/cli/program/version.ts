import { createRequire } from 'node:module'

/** Defined by the bundler; without a bundle the version is read from the manifest. */
declare const SALT_TS_VERSION: string | undefined

export function version(): string {
  if (typeof SALT_TS_VERSION === 'string') return SALT_TS_VERSION
  return (createRequire(import.meta.url)('salt-ts/package.json') as { version: string }).version
}
