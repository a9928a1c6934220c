import { mkdirSync, rmdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { open, type RootDatabase } from 'lmdb'
import { messageOf, SaltError } from '../base/errors.ts'
import { damageOf, reserveRoom } from './lmdb-file.ts'
import { replaceDamaged } from './salvage.ts'

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
 * @throws SaltError STORE_FAILED if it cannot be opened at all
 */
export function openEnvironment(
  path: string,
  { mapSize, synced }: EnvironmentSettings,
  onDamage: Report,
): Environment {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    if (damageOf(path)) repair(path, onDamage)
    reserveRoom(path)
    return open(path, { ...durable, mapSize, noSync: !synced })
  } catch (error) {
    throw SaltError.is(error) ? error : cannotOpen(path, error)
  }
}

/** One of the processes that find the damage repairs it; the others wait for it and find a new file. */
function repair(path: string, onDamage: Report): void {
  const release = takeTurn(`${path}.repair`)
  try {
    const damage = damageOf(path)
    if (damage) onDamage(replaceDamaged(path, damage))
  } finally {
    release()
  }
}

/** A directory as a lock between processes: held while a store is repaired, so waiting may block. */
function takeTurn(lock: string): () => void {
  for (let tries = 0; tries < 2400; tries++) {
    try {
      mkdirSync(lock)
      return () => rmdirSync(lock)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 25)
    }
  }
  throw new SaltError(
    'STORE_FAILED',
    `A repair was not finished. Remove the directory ${lock} and start again.`,
  )
}

function cannotOpen(path: string, error: unknown): SaltError {
  return new SaltError(
    'STORE_FAILED',
    `The store ${path} cannot be opened: ${messageOf(error)}. Check the permissions and the room on that disk.`,
    { path },
    { cause: error },
  )
}
