import { lstatSync, readlinkSync, type Stats, statSync } from 'node:fs'
import { readIfThere } from './read-if-there.ts'

/**
 * Return what is wrong with a path that is to be a regular file, as a clause about it; undefined if it is one, or if nothing is
 * there. Devices such as /dev/null count as files. Opening a pipe would block this process until another one opens it, too.
 */
export function irregularityOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found)
    return found.isFile() || found.isCharacterDevice() ? undefined : `is ${kindOf(found)}, not a regular file`
  const link = lstatSync(path, { throwIfNoEntry: false })
  return link?.isSymbolicLink()
    ? `is a symbolic link to ${readlinkSync(path)}, which does not exist`
    : undefined
}

/** Refuse a path that is neither a regular file nor nothing. @throws Error with a sentence that names it, and the system's */
export function refuseIrregular(path: string): void {
  const irregularity = irregularityOf(path)
  if (irregularity) throw new Error(`${path} ${irregularity}`)
}

/** Read the text of a regular file; undefined if there is none. Rejects with a sentence, or the system's error. */
export async function readRegularFile(path: string): Promise<string | undefined> {
  refuseIrregular(path)
  return readIfThere(path)
}

function kindOf(found: Stats): string {
  if (found.isDirectory()) return 'a folder'
  if (found.isFIFO()) return 'a pipe'
  return found.isSocket() ? 'a socket' : 'a disk'
}
