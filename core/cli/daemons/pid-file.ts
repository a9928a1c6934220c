/**
 * The pid file of a daemon. It is written once the daemon runs, so that a failed start never touches the file of a
 * running one.
 */
import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { messageOf } from '../../base/errors.ts'
import { makeFolders } from '../../base/files/directory.ts'
import { refuseIrregular } from '../../base/files/regular-file.ts'

export interface PidFile {
  /**
   * Write the pid. To be called once this process has its ports and stores: no other process of that pid file runs
   * then.
   */
  write(): void
  remove(): void
}

/** Open a pid file. `complain` is called if it cannot be written; the daemon works without it. */
export function pidFile(path: string, complain: (problem: string) => void): PidFile {
  if (path === '') return { write: () => {}, remove: () => {} }
  const own = String(process.pid)
  return {
    write() {
      try {
        makeFolders(dirname(path), 0o755)
        refuseIrregular(path)
        writeFileSync(path, `${own}\n`)
      } catch (error) {
        complain(`The pid file cannot be written: ${messageOf(error)}`)
      }
    },
    /** Remove the file, or empty it where this user may not remove files. */
    remove() {
      try {
        refuseIrregular(path)
        if (readFileSync(path, 'utf8').trim() !== own) return
        truncateSync(path)
        rmSync(path, { force: true })
      } catch {
        // it is gone, or belongs to somebody else
      }
    },
  }
}
