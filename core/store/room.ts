import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'

/** Free bytes on the disk of a file. */
export function roomAt(path: string): number {
  const { bavail, bsize } = statfsSync(dirname(path))
  return bavail * bsize
}

/** No room for what a daemon writes; false where that cannot be found out. A short write shows as an "Input/output error", so the disk itself is asked. */
export function isFull(path: string): boolean {
  try {
    return roomAt(path) < 2 ** 20
  } catch {
    return false
  }
}
