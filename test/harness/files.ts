import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Path, digest and mode of every file and folder below, in order. */
export function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .map((entry) => {
      const path = join(entry.parentPath, entry.name)
      const content = entry.isFile() ? createHash('sha256').update(readFileSync(path)).digest('hex') : ''
      return `${path} ${content} ${statSync(path).mode.toString(8)}`
    })
    .sort()
}
