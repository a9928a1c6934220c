import { existsSync } from 'node:fs'
import type { SaltError } from '../base/errors.ts'
import { type CheckSettings, runCheck } from './check-run.ts'
import { replaceDamaged } from './salvage/salvage.ts'

/** Exit code of the checking process if it finds damage. Other exit codes say nothing about a store. */
export const DAMAGED = 65

const CRASHES = new Set<NodeJS.Signals | null>(['SIGSEGV', 'SIGBUS', 'SIGABRT', 'SIGILL', 'SIGFPE'])

/**
 * Read a store completely, and write to it, before it is used. A file with a damaged structure crashes the process that
 * reads it, so a child process does so. If that finds damage, or crashes, the intact records are copied to a new file, the
 * damaged file is moved aside, and the error that describes this is returned. The store must not be open in this process.
 * Single damaged records are detected when they are read, without this check.
 * @throws SaltError STORE_FAILED if another process keeps the store locked
 */
export async function checkStore(path: string, settings: CheckSettings = {}): Promise<SaltError | undefined> {
  const damage = await damageIn([path], settings)
  return damage === undefined ? undefined : replaceDamaged(path, damage)
}

/** Check several stores. If all are intact, as nearly always, this takes only one child process. */
export async function checkStores(
  paths: readonly string[],
  settings: CheckSettings = {},
): Promise<SaltError[]> {
  if ((await damageIn(paths, settings)) === undefined) return []
  const damages = await Promise.all(paths.map((path) => checkStore(path, settings)))
  return damages.filter((damage) => damage !== undefined)
}

/** Return a description of the damage in one of these stores; undefined if none was found. */
async function damageIn(paths: readonly string[], settings: CheckSettings): Promise<string | undefined> {
  const present = paths.filter((path) => existsSync(path))
  if (present.length === 0) return undefined
  const { code, signal, stderr } = await runCheck(present, settings)
  if (CRASHES.has(signal)) return `reading it ended with ${signal}`
  // In other cases the child could not be started, or was terminated (Ctrl-C reaches it, too), which says nothing about the file.
  return code === DAMAGED ? stderr : undefined
}
