import { existsSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import type { SaltError } from '../base/errors.ts'
import { checkStores } from './check-store.ts'

export interface AfterCrashSettings {
  /** A file that is there from the start of a daemon to its orderly end. */
  readonly marker: string
  /** The files of its stores, which nobody has open yet. */
  readonly stores: readonly string[]
  /** Told of each store that was damaged; it has been moved aside and starts empty. */
  readonly onDamage: (error: SaltError) => void
}

/**
 * To be called at the start of a daemon: if the one before did not end in order, its stores are read once from end to
 * end. After an orderly end that costs nothing. Gives what to call at such an end.
 */
export async function checkAfterCrash({
  marker,
  stores,
  onDamage,
}: AfterCrashSettings): Promise<() => Promise<void>> {
  if (existsSync(marker)) {
    for (const damage of await checkStores(stores)) onDamage(damage)
  }
  await writeFile(marker, `${process.pid}\n`, { mode: 0o600 })
  return () => rm(marker, { force: true })
}
