import { spawnSync } from 'node:child_process'
import { linkSync, renameSync, rmSync } from 'node:fs'
import { SaltError } from '../../base/errors.ts'
import { processEntry } from '../../process/process-entry.ts'
import { makeLock } from '../lmdb-file.ts'

const entry = processEntry('store/salvage/salvage-process')

interface Found {
  readonly saved: number
  /** Number of records in the damaged file; unknown if both its meta pages are damaged. */
  readonly entries?: number
}

/**
 * Move a damaged file aside, and replace it with one that has all its intact records; if there are none, a new one is created
 * later. Returns the error that describes this. The damaged file stays in place until its replacement is complete.
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

/** Copy the intact records in a child process, since the file may be large. Blocks until it has ended. */
function salvage(damaged: string, fresh: string): Found {
  const { stdout, status } = spawnSync(process.execPath, [entry, damaged, fresh, String(process.pid)], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return status === 0 ? (JSON.parse(stdout) as Found) : { saved: 0 }
}

function removeStore(path: string): void {
  for (const file of [path, `${path}-lock`]) rmSync(file, { force: true })
}
