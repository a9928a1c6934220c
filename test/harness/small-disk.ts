/** A disk that is full when the test wants it to be. */
import { execFileSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Daemon } from './daemons.ts'
import { isAlive } from './processes.ts'

export interface SmallDisk {
  /** From now on nothing can be stored in the folder. */
  fill(): void
  makeRoom(): void
  close(): void
}

const MEGABYTE = 2 ** 20

/**
 * A small file system mounted over the folder, with what fills it: a disk that is full. The folder must not be in use;
 * the test needs the right to mount.
 */
export function mountSmallDisk(folder: string, megabytes: number): SmallDisk {
  mkdirSync(folder, { recursive: true })
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=700`, 'none', folder])
  const ballast = join(folder, 'ballast')
  return {
    fill: () => writeUntilFull(ballast),
    makeRoom: () => rmSync(ballast, { force: true }),
    close: () => void execFileSync('umount', ['--lazy', folder]),
  }
}

function writeUntilFull(path: string): void {
  const file = openSync(path, 'a')
  try {
    for (let size = MEGABYTE; size >= 1; ) {
      try {
        writeSync(file, Buffer.alloc(size))
      } catch {
        size = Math.floor(size / 2)
      }
    }
  } finally {
    closeSync(file)
  }
}

/** The limit on the size of files, which needs no rights: a daemon that may not write any, as under a used-up quota. */
export function limitFiles(daemon: Daemon): SmallDisk {
  const limit = (bytes: number | 'unlimited') => {
    for (const { pid } of daemon.processes()) {
      try {
        execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:unlimited`], { stdio: 'pipe' })
      } catch (error) {
        if (isAlive(pid)) throw error // one that has ended meanwhile writes nothing
      }
    }
  }
  return { fill: () => limit(4096), makeRoom: () => limit('unlimited'), close: () => {} }
}
