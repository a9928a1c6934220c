import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'

const LEDGER = fileURLToPath(new URL('module.ts', import.meta.url))

/** Write the module of the ledger as JavaScript, which job processes load faster than TypeScript, and return its directory. */
export function ledgerModules(root: string): string {
  const directory = join(root, 'own')
  const outfile = join(directory, 'modules', 'ledger.mjs')
  buildSync({
    entryPoints: [LEDGER],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: ['salt-ts'],
  })
  return directory
}
