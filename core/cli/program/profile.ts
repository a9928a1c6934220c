import { lstatSync, mkdirSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { join } from 'node:path'
import { SaltError } from '../../base/errors.ts'
import { printNote } from '../output/console.ts'

/** Run `work` and write a CPU profile of it to a folder: `<program>-<process id>.cpuprofile`. */
export async function profiled<T>(program: string, folder: string, work: () => Promise<T>): Promise<T> {
  createOwnFolder(folder)
  const session = new Session()
  session.connect()
  try {
    await session.post('Profiler.enable')
    await session.post('Profiler.start')
    return await work()
  } finally {
    const { profile } = await session.post('Profiler.stop')
    session.disconnect()
    const path = join(folder, `${program}-${process.pid}.cpuprofile`)
    writeFileSync(path, JSON.stringify(profile), { mode: 0o600, flag: 'wx' })
    printNote(`Wrote ${path}. Open it with the developer tools of a browser.`)
  }
}

/** Create the folder, and refuse one of another user: links in it could lead to files that must not be overwritten. */
function createOwnFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const stats = lstatSync(folder)
  if (stats.isDirectory() && stats.uid === process.geteuid?.()) return
  throw new SaltError(
    'PERMISSIONS',
    `Profiles are not written to ${folder}: it is not a folder of this user. Name another with --profiling-path.`,
    { folder },
  )
}
