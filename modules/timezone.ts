/** Show and set the time zone of the host. */
import { readFile, readlink, rename, stat, symlink } from 'node:fs/promises'
import { join, normalize } from 'node:path'
import { CommandExecutionError, type Context, fn, p, SaltInvocationError, type Virtual } from 'salt-ts'
import { which } from './_cmd/which.ts'
import { reasonOf, rewrite, textOf } from './_host/files.ts'
import { output, run } from './_host/programs.ts'

const LOCALTIME = '/etc/localtime'
const ZONES = '/usr/share/zoneinfo'

const timezone = p.string()

export const virtual: Virtual = ({ grains }) =>
  grains.kernel === 'Linux' || 'The timezone module knows only the files of Linux'

/**
 * Return the name of the time zone.
 *
 * @example salt '*' timezone.get_zone
 */
export const get_zone = fn(async (_, context) => {
  if ((await which('timedatectl')) !== null) return settingOf(/Time ?zone:\s+(\S+)/, context)
  const link = await readlink(LOCALTIME).catch(() => '')
  const path = normalize(join('/etc', link))
  if (link !== '' && path.startsWith(`${ZONES}/`)) return path.slice(ZONES.length + 1)
  const name = (await textOf('/etc/timezone'))?.trim()
  if (name) return name
  throw new CommandExecutionError('Unable to get timezone')
})

/**
 * Return the abbreviation of the time zone, such as CET.
 *
 * @example salt '*' timezone.get_zonecode
 */
export const get_zonecode = fn((_, context) => output(['date', '+%Z'], context))

/**
 * Return the offset of the time zone from UTC, such as +0100.
 *
 * @example salt '*' timezone.get_offset
 */
export const get_offset = fn((_, context) => output(['date', '+%z'], context))

/**
 * Set the time zone. True, or a text if there is no such zone.
 *
 * @example salt '*' timezone.set_zone America/Denver
 */
export const set_zone = fn({ timezone }, async ({ timezone }, context) => {
  const path = zonePath(timezone)
  if (!(await stat(path).catch(() => undefined))?.isFile()) {
    context.retcode = 1
    return `Zone does not exist: ${path}`
  }
  if ((await which('timedatectl')) !== null) await run(['timedatectl', 'set-timezone', timezone], context)
  const fresh = `${LOCALTIME}.salt-${process.pid}`
  await symlink(path, fresh)
  await rename(fresh, LOCALTIME)
  if (context.grains.os_family === 'Debian') await rewrite('/etc/timezone', `${timezone}\n`)
  return true
})

/**
 * True if the host has this time zone, by the content of the file.
 *
 * @example salt '*' timezone.zone_compare America/Denver
 */
export const zone_compare = fn({ timezone }, async ({ timezone }) => {
  if (timezone === '') return false
  const current = await readFile(LOCALTIME).catch((error: unknown) => {
    throw new CommandExecutionError(
      `Failed to read ${LOCALTIME} to determine current timezone: ${reasonOf(error)}`,
    )
  })
  const wanted = await readFile(zonePath(timezone)).catch(() => {
    throw new SaltInvocationError(`Can't find a local timezone "${timezone}"`)
  })
  return current.equals(wanted)
})

/**
 * Return whether the hardware clock has `UTC` or `localtime`.
 *
 * @example salt '*' timezone.get_hwclock
 */
export const get_hwclock = fn(async (_, context) => {
  if ((await which('timedatectl')) !== null) {
    const isLocal = (await settingOf(/RTC in local TZ:\s+(\S+)/i, context)) === 'yes'
    return isLocal ? 'localtime' : 'UTC'
  }
  const lines = (await textOf('/etc/adjtime'))?.trim().split('\n')
  return lines?.at(-1) ?? null
})

/**
 * Set whether the hardware clock has `UTC` or `localtime`. Needs timedatectl.
 *
 * @example salt '*' timezone.set_hwclock UTC
 */
export const set_hwclock = fn({ clock: p.enum('UTC', 'localtime') }, async ({ clock }, context) => {
  const words = ['timedatectl', 'set-local-rtc', String(clock === 'localtime')]
  return (await run(words, context)).retcode === 0
})

async function settingOf(pattern: RegExp, context: Context): Promise<string> {
  const { retcode, stdout, stderr } = await run(['timedatectl'], context)
  if (retcode !== 0) throw new CommandExecutionError(`timedatectl failed: ${stderr}`)
  const found = pattern.exec(stdout)?.[1]
  if (found !== undefined) return found
  throw new CommandExecutionError(`Failed to parse timedatectl output: ${stdout}`)
}

/** A name cannot lead out of the folder of zones. */
function zonePath(name: string): string {
  const path = join(ZONES, name)
  if (path.startsWith(`${ZONES}/`)) return path
  throw new SaltInvocationError(`'${name}' is not the name of a time zone`)
}
