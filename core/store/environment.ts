import { existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { open, type RootDatabase } from 'lmdb'
import { messageOf, SaltError } from '../base/errors.ts'
import { withFileLock } from './file-lock.ts'
import { damageOf, makeLock, makeStore } from './lmdb-file.ts'
import type { OpenFile } from './open-file.ts'
import { replaceDamaged } from './salvage/salvage.ts'
import { silenceCommitFailures } from './silence-commit-failures.ts'

export type Environment = RootDatabase<Buffer, (string | number)[]>

export const DURABLE_LMDB_OPTIONS = {
  encoding: 'binary',
  noSubdir: true,
  overlappingSync: false, // without this, a commit counts as done before fdatasync
  eventTurnBatching: false, // without this, a failed commit is also an unhandled rejection
  permissionsMode: 0o600,
} as const

type Report = (error: SaltError) => void

export interface EnvironmentSettings {
  readonly mapSize: number
  /** Whether a commit waits until it is on disk. */
  readonly synced: boolean
}

/**
 * Open an LMDB file with the settings that make a resolved commit durable. A damaged file is moved aside and reported to
 * `onDamage`; the new store then has the records that could be read.
 *
 * @param left the file that this process had open under that path until now
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
    if (left || isIncomplete(path)) withFileLock(path, () => prepare(path, onDamage, left))
    return silenceCommitFailures(open(path, { ...DURABLE_LMDB_OPTIONS, mapSize, noSync: !synced }))
  } catch (error) {
    throw SaltError.is(error) ? error : cannotOpen(path, error)
  }
}

const isIncomplete = (path: string): boolean =>
  !existsSync(path) || !existsSync(`${path}-lock`) || damageOf(path) !== undefined

/**
 * Create or repair a store, under the file lock: other processes that find it missing or damaged wait, and use the new
 * file.
 */
function prepare(path: string, onDamage: Report, left: OpenFile | undefined): void {
  const damage = left?.wasCutAt(path) ? 'it became shorter while it was in use' : damageOf(path)
  if (damage) onDamage(replaceDamaged(path, damage))
  makeStore(path)
  if (!existsSync(`${path}-lock`) || left?.hasLockOf(path)) makeLock(path)
}

function cannotOpen(path: string, error: unknown): SaltError {
  return new SaltError(
    'STORE_FAILED',
    `The store ${path} cannot be opened: ${messageOf(error)}. Check the permissions and the free space on that disk.`,
    { path },
    { cause: error },
  )
}
