import { createRequire } from 'node:module'

/** List the programs of the package: the names in `bin` of package.json. */
export function programNames(): string[] {
  const { bin } = createRequire(import.meta.url)('salt-ts/package.json') as { bin: object }
  return Object.keys(bin)
}
