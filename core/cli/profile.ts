import { lstatSync, mkdirSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { join } from 'node:path'
import { SaltError } from '../base/errors.ts'
import { tell } from './console.ts'

/** Do some work and write where its time went into a folder: `<program>-<process id>.cpuprofile`, for developer tools. */
export async function profiled<T>(program: string, folder: string, work: () => Promise<T>): Promise<T> {
  makeOwn(folder)
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
    tell(`Wrote ${path}; the developer tools of a browser show it.`)
  }
}

/** In a folder of somebody else, as in /tmp, there may be links to files that must not be written. */
function makeOwn(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const stats = lstatSync(folder)
  if (stats.isDirectory() && stats.uid === process.geteuid?.()) return
  throw new SaltError(
    'PERMISSIONS',
    `Profiles are not written to ${folder}: it is not a folder of this user. Name another with --profiling-path.`,
    { folder },
  )
}
