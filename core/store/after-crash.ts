import { existsSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { SaltError } from '../base/errors.ts'
import { fileProblem } from '../base/file-problem.ts'
import type { CheckSettings } from './check-run.ts'
import { checkStores } from './check-store.ts'

export interface AfterCrashSettings extends CheckSettings {
  /** A file that is there from the start of a daemon to its orderly end. */
  readonly marker: string
  /** The files of its stores, which nobody has open yet. */
  readonly stores: readonly string[]
  /** Told of each store that was damaged; it has been moved aside and starts empty. */
  readonly onDamage: (error: SaltError) => void
  /** Told that the daemon before did not end in order. */
  readonly onCrash?: () => void
}

/**
 * To be called at the start of a daemon: if the one before did not end in order, its stores are read once from end to
 * end. After an orderly end that costs nothing. Gives what to call at such an end. The marker is empty: that needs no room
 * on a disk. Rejects with STORE_FAILED where it cannot be made anyway, or where a process does not let go of a store.
 */
export async function checkAfterCrash({
  marker,
  stores,
  onDamage,
  onCrash,
  ...settings
}: AfterCrashSettings): Promise<() => Promise<void>> {
  if (existsSync(marker)) {
    onCrash?.()
    for (const damage of await checkStores(stores, settings)) onDamage(damage)
  }
  await writeFile(marker, '', { mode: 0o600 }).catch((error: unknown) => {
    const why = fileProblem(error)
    throw new SaltError('STORE_FAILED', `${marker} cannot be written: ${why}. Repair that, and start again.`)
  })
  return () => rm(marker, { force: true })
}
