import { join } from 'node:path'
import { packageRoot } from './own-package.ts'

/**
 * Return the file that a child process is started with: the bundle of `core/<name>.ts`.
 * Children run from bundles even if their parent runs from its source, as in tests.
 */
export const processEntry = (name: string): string => join(packageRoot, 'dist', 'programs', `${name}.cjs`)
