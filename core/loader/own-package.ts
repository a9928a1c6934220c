import { existsSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Where this running copy of salt-ts lies: compiled code in `dist`, or the sources under a TypeScript loader.
 * Bundles may lie anywhere in `dist`, so it is found by walking up to the package's own manifest.
 */
const here = fileURLToPath(import.meta.url)
export const packageRoot: string = findRoot(path.dirname(here))
export const fromSource: boolean = here.endsWith('.ts')
/** Folder that holds `core`, `modules`, `runners`, … of this copy. */
export const codeRoot: string = fromSource ? packageRoot : path.join(packageRoot, 'dist')

function findRoot(directory: string): string {
  const above = path.dirname(directory)
  const isRoot = existsSync(path.join(directory, 'package.json')) && path.basename(directory) !== 'dist'
  return isRoot || above === directory ? directory : findRoot(above)
}
