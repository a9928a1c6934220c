import { createHash } from 'node:crypto'
import { lstatSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { entriesBelow } from '../../core/base/files/entries-below.ts'

/** Path, digest and mode of every file and folder below, in order; of a link that leads nowhere, its own mode. */
export function filesBelow(directory: string): string[] {
  return entriesBelow(directory)
    .map((entry) => {
      const path = join(entry.parentPath, entry.name)
      const content = entry.isFile() ? createHash('sha256').update(readFileSync(path)).digest('hex') : ''
      return `${path} ${content} ${(statSync(path, { throwIfNoEntry: false }) ?? lstatSync(path)).mode.toString(8)}`
    })
    .sort()
}
