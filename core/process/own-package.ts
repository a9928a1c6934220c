import { existsSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Root directory of the running copy of salt-ts, which runs compiled code in `dist`, or the sources under a TypeScript loader.
 * Bundles can be anywhere in `dist`, so the root is found by walking up to `package.json`.
 */
const here = fileURLToPath(import.meta.url)
export const packageRoot: string = findRoot(path.dirname(here))
export const fromSource: boolean = here.endsWith('.ts')
/** Directory that contains `core`, `modules`, `runners`, … of this copy. */
export const codeRoot: string = fromSource ? packageRoot : path.join(packageRoot, 'dist')

function findRoot(directory: string): string {
  const above = path.dirname(directory)
  const isRoot = existsSync(path.join(directory, 'package.json')) && path.basename(directory) !== 'dist'
  return isRoot || above === directory ? directory : findRoot(above)
}
