import { existsSync } from 'node:fs'
import type { SaltError } from '../base/errors.ts'
import { type CheckSettings, runCheck } from './check-run.ts'
import { replaceDamaged } from './salvage.ts'

/** Exit code of the process that looks. Whatever else it ends with says nothing of a store. */
export const DAMAGED = 65

const CRASHES = new Set<NodeJS.Signals | null>(['SIGSEGV', 'SIGBUS', 'SIGABRT', 'SIGILL', 'SIGFPE'])

/**
 * Read a store once from end to end, and write to it, before it is used. A file whose inner structure is damaged ends
 * the process that reads it, so a child reads it; if that one finds damage, or dies, what is whole is put into a new file,
 * this one is moved aside and the error that says so is given. Call it where nothing has the store open yet. Damaged
 * single records are found on reading and need no check.
 * @throws SaltError STORE_FAILED if another process does not let go of the store
 */
export async function checkStore(path: string, settings: CheckSettings = {}): Promise<SaltError | undefined> {
  const damage = await damageIn([path], settings)
  return damage === undefined ? undefined : replaceDamaged(path, damage)
}

/** The same for several. Whole ones, as nearly always, cost one child together. */
export async function checkStores(
  paths: readonly string[],
  settings: CheckSettings = {},
): Promise<SaltError[]> {
  if ((await damageIn(paths, settings)) === undefined) return []
  const damages = await Promise.all(paths.map((path) => checkStore(path, settings)))
  return damages.filter((damage) => damage !== undefined)
}

/** What is damaged in one of these stores, if anything was found. */
async function damageIn(paths: readonly string[], settings: CheckSettings): Promise<string | undefined> {
  const present = paths.filter((path) => existsSync(path))
  if (present.length === 0) return undefined
  const { code, signal, stderr } = await runCheck(present, settings)
  if (CRASHES.has(signal)) return `reading it ended with ${signal}`
  // Else it could not be started, or it was ended (Ctrl-C reaches it, too): that says nothing of the file.
  return code === DAMAGED ? stderr : undefined
}
