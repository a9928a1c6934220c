import { existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { open, type RootDatabase } from 'lmdb'
import { messageOf, SaltError } from '../base/errors.ts'
import { damageOf, makeLock, makeStore } from './lmdb-file.ts'
import type { OpenFile } from './open-file.ts'
import { keepFailuresQuiet } from './quiet-failures.ts'
import { replaceDamaged } from './salvage.ts'
import { inTurn } from './turn.ts'

export type Environment = RootDatabase<Buffer, (string | number)[]>

export const durable = {
  encoding: 'binary',
  noSubdir: true,
  overlappingSync: false, // else a commit counts as done before fdatasync
  eventTurnBatching: false, // else a failed commit is also an unhandled rejection
  permissionsMode: 0o600,
} as const

type Report = (error: SaltError) => void

export interface EnvironmentSettings {
  readonly mapSize: number
  /** Whether a commit waits for the disk. */
  readonly synced: boolean
}

/**
 * Open an LMDB file with the settings that make a resolved commit a durable one. A damaged file is moved aside and
 * told to `onDamage`; the store then has what could be read of it.
 *
 * @param left what this process had open under that path until now
 * @throws SaltError STORE_FAILED if it cannot be opened at all
 */
export function openEnvironment(
  path: string,
  { mapSize, synced }: EnvironmentSettings,
  onDamage: Report,
  left?: OpenFile,
): Environment {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    if (left || isIncomplete(path)) inTurn(path, () => prepare(path, onDamage, left))
    return keepFailuresQuiet(open(path, { ...durable, mapSize, noSync: !synced }))
  } catch (error) {
    throw SaltError.is(error) ? error : cannotOpen(path, error)
  }
}

const isIncomplete = (path: string): boolean =>
  !existsSync(path) || !existsSync(`${path}-lock`) || damageOf(path) !== undefined

/** One of the processes that find a store missing or damaged makes or repairs it; the others wait, and find a new file. */
function prepare(path: string, onDamage: Report, left: OpenFile | undefined): void {
  const damage = left?.wasCutAt(path) ? 'it became shorter while it was in use' : damageOf(path)
  if (damage) onDamage(replaceDamaged(path, damage))
  makeStore(path)
  if (!existsSync(`${path}-lock`) || left?.hasLockOf(path)) makeLock(path)
}

function cannotOpen(path: string, error: unknown): SaltError {
  return new SaltError(
    'STORE_FAILED',
    `The store ${path} cannot be opened: ${messageOf(error)}. Check the permissions and the room on that disk.`,
    { path },
    { cause: error },
  )
}
