import { spawnSync } from 'node:child_process'
import { linkSync, renameSync, rmSync } from 'node:fs'
import { SaltError } from '../base/errors.ts'
import { processEntry } from '../base/process-entry.ts'
import { makeLock } from './lmdb-file.ts'

const entry = processEntry(import.meta.url, 'salvage-process')

interface Found {
  readonly saved: number
  /** How many there were; unknown if both heads of the file are damaged. */
  readonly entries?: number
}

/**
 * Move a damaged file away and put one in its place that has all its records that are whole; if there are none, a new one
 * will be made. Gives the error that says so. Until it is done the damaged file stays where it is.
 */
export function replaceDamaged(path: string, reason: string): SaltError {
  const movedTo = `${path}.damaged-${new Date().toISOString().replaceAll(':', '')}`
  const fresh = `${path}.salvaged`
  removeStore(fresh)
  const { saved, entries } = salvage(path, fresh)
  if (saved > 0) {
    linkSync(path, movedTo)
    makeLock(path)
    renameSync(fresh, path)
  } else renameSync(path, movedTo)
  removeStore(fresh)
  const what = saved > 0 ? `a new one has ${count(saved, entries)}` : 'a new one was started'
  return new SaltError(
    'STORE_FAILED',
    `The store ${path} is damaged (${reason}). It was moved to ${movedTo}, and ${what}.`,
    { path, movedTo, saved, ...(entries !== undefined && { entries }) },
  )
}

const count = (saved: number, entries: number | undefined): string =>
  entries === undefined ? `the ${saved} records that were found in it` : `${saved} of its ${entries} records`

/** In a process of its own: it may be large, and who opens a store waits for it. */
function salvage(damaged: string, fresh: string): Found {
  const { stdout, status } = spawnSync(process.execPath, [entry, damaged, fresh], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return status === 0 ? (JSON.parse(stdout) as Found) : { saved: 0 }
}

function removeStore(path: string): void {
  for (const file of [path, `${path}-lock`]) rmSync(file, { force: true })
}
