import { createRequire } from 'node:module'
import path from 'node:path'

/** Return the file that Node finds for an import in a folder; undefined if there is none. */
export function resolveFrom(folder: string, specifier: string): string | undefined {
  try {
    return createRequire(path.join(folder, 'package.json')).resolve(specifier)
  } catch {
    return undefined
  }
}
