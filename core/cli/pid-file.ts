/** The pid file of a daemon: written by who runs, so that one that cannot start never touches that of another. */
import { mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { messageOf } from '../base/errors.ts'

export interface PidFile {
  /** To be called once this process has its ports and stores: whoever stands in the file then is gone. */
  write(): void
  remove(): void
}

/** @param complain is told if it cannot be written; the daemon works without. */
export function pidFile(path: string, complain: (problem: string) => void): PidFile {
  if (path === '') return { write: () => {}, remove: () => {} }
  const own = String(process.pid)
  return {
    write() {
      try {
        mkdirSync(dirname(path), { recursive: true, mode: 0o755 })
        writeFileSync(path, `${own}\n`)
      } catch (error) {
        complain(`The pid file cannot be written: ${messageOf(error)}`)
      }
    },
    /** Where this user may not remove files, it is left empty. */
    remove() {
      try {
        if (readFileSync(path, 'utf8').trim() !== own) return
        truncateSync(path)
        rmSync(path, { force: true })
      } catch {
        // It says nothing any more, or is gone.
      }
    },
  }
}
