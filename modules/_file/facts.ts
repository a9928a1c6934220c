import { constants } from 'node:fs'
import { access, open, readdir, utimes } from 'node:fs/promises'
import { CommandExecutionError, SaltInvocationError } from 'salt-ts'
import { absolute, attempt, exists, expandHome, isFolder, lstatOf, statOf, systemError } from './paths.ts'
import { setPermissions } from './permissions.ts'
import { refuseForeignName, withPlace } from './place.ts'
import { modeText } from './stats.ts'

/** Set the mode of a file, and return it, or what is wrong with it. */
export async function setMode(given: string, mode: string): Promise<string> {
  const file = await expandHome(given)
  const digits = mode.replace(/^[0Oo]+/, '') || '0'
  if (!(await exists(file))) throw new CommandExecutionError(`${file}: File not found`)
  if (!/^[0-7]{1,4}$/.test(digits)) return `Invalid Mode ${digits}`
  await withPlace(file, (place) =>
    setPermissions(place, { uid: -1, gid: -1, mode: Number.parseInt(digits, 8) }),
  )
  return modeText((await attempt(statOf(file)))?.mode ?? 0)
}

interface Times {
  readonly atime?: unknown
  readonly mtime?: unknown
}

/** Create a file if it is missing, and set its times. */
export async function touchFile(given: string, { atime, mtime }: Times): Promise<boolean> {
  const path = await expandHome(given)
  const seconds = [atime, mtime].map((time) =>
    time === undefined || time === null ? Date.now() / 1000 : Number(time),
  )
  if (seconds.some((time) => !Number.isFinite(time)))
    throw new SaltInvocationError('atime and mtime must be integers')
  try {
    const [accessed, modified] = seconds as [number, number]
    await withPlace(path, async (place) => {
      refuseForeignName(place)
      if (place.file) return utimes(place.file.at, accessed, modified)
      const file = await open(place.at, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o666)
      await file.utimes(accessed, modified).finally(() => file.close())
    })
  } catch (error) {
    throw systemError(error, path)
  }
  return (await lstatOf(path)) !== undefined
}

const MODES: Readonly<Record<string, number>> = { f: 0, r: 4, w: 2, x: 1 }

/** Whether this process may use a file. */
export async function mayAccess(given: string, mode: unknown): Promise<boolean> {
  const file = await absolute(given, 'Path to link must be absolute.')
  const wanted = Object.hasOwn(MODES, String(mode)) ? MODES[String(mode)] : mode
  if (typeof wanted !== 'number' || ![0, 1, 2, 4].includes(wanted))
    throw new SaltInvocationError('Invalid mode specified.')
  return access(file, wanted).then(
    () => true,
    () => false,
  )
}

/** List the names in a folder, with `.` and `..`. */
export async function namesIn(given: string): Promise<string[]> {
  const folder = await absolute(given, 'Dir path must be absolute.')
  if (!(await isFolder(folder))) throw new SaltInvocationError('A valid directory was not specified.')
  return ['.', '..', ...(await readdir(folder))]
}
