import { accessSync, constants } from 'node:fs'
import { tmpdir } from 'node:os'

const MEMORY = '/dev/shm'

/** A folder in memory, if this host has one: files that are synced there cost no time. */
export function memoryFolder(): string {
  try {
    accessSync(MEMORY, constants.W_OK)
    return MEMORY
  } catch {
    return tmpdir()
  }
}
