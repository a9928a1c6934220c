import { readdirSync } from 'node:fs'

/** Return the names in a folder; none if it is not there or may not be read. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
