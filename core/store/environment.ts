import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import type { RootDatabase, RootDatabaseOptions } from 'lmdb'
import { SaltError } from '../base/errors.ts'
import { makeFolders } from '../base/files/directory.ts'
import { fileProblem } from '../base/files/file-problem.ts'
import { closeOnExit } from './exit-guard.ts'
import { withFileLock, withFileLockIfPossible } from './file-lock.ts'
import { damageOf, makeLock, makeStore, refuseUnusable } from './lmdb-file.ts'
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

/** Longest wait for the file lock; afterwards files are opened and closed without it. */
const MAX_OPEN_MS = 60_000
const MAX_CLOSE_MS = 1000

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
    makeFolders(dirname(path), 0o700)
    refuseUnusable(path)
    const options = { ...DURABLE_LMDB_OPTIONS, mapSize, noSync: !synced }
    if (!left && !isIncomplete(path)) return silenceCommitFailures(openLmdb(path, options))
    return withFileLock(path, () => {
      prepare(path, onDamage, left)
      return silenceCommitFailures(openLmdbLocked(path, options))
    })
  } catch (error) {
    throw SaltError.is(error) ? error : cannotOpen(path, error)
  }
}

/**
 * Open a file of LMDB under the file lock, and close it so, also if the process exits. Otherwise a process that closes the file as
 * the last one would destroy the mutexes in the lock table while another one waits to open it, and nobody could use the file until
 * all processes have closed it (`mdb_env_excl_lock` and `mdb_env_close0` of lmdb 3.5).
 */
export const openLmdb = (path: string, options: RootDatabaseOptions): Environment =>
  withFileLockIfPossible(path, MAX_OPEN_MS, () => openLmdbLocked(path, options))

/** lmdb is loaded with the first store: that takes 12 ms. */
const lmdb = (): typeof import('lmdb') => createRequire(import.meta.url)('lmdb')

function openLmdbLocked(path: string, options: RootDatabaseOptions): Environment {
  refuseUnusable(path)
  const environment: Environment = lmdb().open(path, options)
  const { env } = environment as unknown as { env: { close(): void } }
  const close = env.close.bind(env)
  const closeLocked = () => {
    forget()
    withFileLockIfPossible(path, MAX_CLOSE_MS, close)
  }
  const forget = closeOnExit(closeLocked)
  Object.defineProperty(env, 'close', { value: closeLocked })
  return environment
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
    `The store ${path} cannot be opened: ${fileProblem(error)}. Check the permissions and the free space on that disk.`,
    { path },
    { cause: error },
  )
}
