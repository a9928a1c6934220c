import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'

/** Return the free space on the disk of a file, in bytes. */
export function freeSpaceAt(path: string): number {
  const { bavail, bsize } = statfsSync(dirname(path))
  return bavail * bsize
}

/**
 * Whether the disk of a file is full; false if that cannot be determined. The error of a failed write does not show it: a
 * short write is reported as an "Input/output error".
 */
export function isFull(path: string): boolean {
  try {
    return freeSpaceAt(path) < 2 ** 20
  } catch {
    return false
  }
}
