import { existsSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { SaltError } from '../base/errors.ts'
import { fileProblem } from '../base/files/file-problem.ts'
import { refuseIrregular } from '../base/files/regular-file.ts'
import type { CheckSettings } from './check-run.ts'
import { checkStores } from './check-store.ts'

export interface AfterCrashSettings extends CheckSettings {
  /** Path of a file that exists from the start of a daemon to its orderly end. */
  readonly marker: string
  /** The files of its stores, which must not be open yet. */
  readonly stores: readonly string[]
  /** Called for each damaged store, after it was moved aside and replaced. */
  readonly onDamage: (error: SaltError) => void
  /** Called if the previous daemon did not end in order. */
  readonly onCrash?: () => void
}

/**
 * Check the stores at the start of a daemon: if the previous one did not end in order, they are read completely. After an
 * orderly end that is skipped. Returns the function to call at an orderly end. The marker is empty, so it can be created on
 * a full disk.
 * @throws SaltError STORE_FAILED if the marker cannot be created, or another process keeps a store locked
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
  try {
    refuseIrregular(marker)
    await writeFile(marker, '', { mode: 0o600 })
  } catch (error) {
    const why = fileProblem(error)
    throw new SaltError('STORE_FAILED', `${marker} cannot be written: ${why}. Correct that, and start again.`)
  }
  return () => rm(marker, { force: true })
}
