/** Stop and restart the host, and show its time and name. */
import { mkdir, writeFile } from 'node:fs/promises'
import os from 'node:os'
import { dirname } from 'node:path'
import { CommandExecutionError, type Context, fn, p, SaltInvocationError, type Virtual } from 'salt-ts'
import { strftime } from '#internal'
import { which } from './_cmd/which.ts'
import { rewrite, textOf } from './_host/files.ts'
import { output, run } from './_host/programs.ts'

const at_time = p.optional(
  p.string({ description: 'Minutes from now, such as 10, or a time such as 17:30; now by default.' }),
)
const utc_offset = p.optional(p.string({ description: 'An offset from UTC, such as -0700.' }))

export const virtual: Virtual = ({ grains }) =>
  grains.kernel === 'Linux' || 'The system module knows only the programs of Linux'

/**
 * Halt the host.
 *
 * @example salt '*' system.halt
 */
export const halt = fn((_, context) => output(['halt'], context))

/**
 * Change the runlevel.
 *
 * @example salt '*' system.init 3
 */
export const init = fn({ runlevel: p.string({ pattern: '^[0-9a-zA-Z]$' }) }, ({ runlevel }, context) =>
  output(['init', runlevel], context),
)

/**
 * Power the host off.
 *
 * @example salt '*' system.poweroff
 */
export const poweroff = fn((_, context) => output(['poweroff'], context))

/**
 * Restart the host.
 *
 * @example salt '*' system.reboot
 * @example salt '*' system.reboot 10
 */
export const reboot = fn({ at_time }, ({ at_time }, context) =>
  output(['shutdown', '-r', timeOf(at_time)], context),
)

/**
 * Shut the host down.
 *
 * @example salt '*' system.shutdown
 * @example salt '*' system.shutdown 17:30
 */
export const shutdown = fn({ at_time }, ({ at_time }, context) =>
  output(['shutdown', '-h', timeOf(at_time)], context),
)

/**
 * True if the hardware clock can be set.
 *
 * @example salt '*' system.has_settable_hwclock
 */
export const has_settable_hwclock = fn((_, context) => isHardwareClockSettable(context))

/**
 * Return the time of day.
 *
 * @example salt '*' system.get_system_time
 * @example salt '*' system.get_system_time utc_offset=-0700
 */
export const get_system_time = fn({ utc_offset }, ({ utc_offset }) =>
  strftime('%I:%M:%S %p', shifted(utc_offset)),
)

/**
 * Return the date and time.
 *
 * @example salt '*' system.get_system_date_time
 */
export const get_system_date_time = fn({ utc_offset }, ({ utc_offset }) =>
  strftime('%Y-%m-%d %H:%M:%S', shifted(utc_offset)),
)

/**
 * Return the date.
 *
 * @example salt '*' system.get_system_date
 */
export const get_system_date = fn({ utc_offset }, ({ utc_offset }) =>
  strftime('%a %m/%d/%Y', shifted(utc_offset)),
)

/**
 * Return the description of the host (its pretty hostname); false if it has none.
 *
 * @example salt '*' system.get_computer_desc
 */
export const get_computer_desc = fn(async (_, context) => {
  if ((await which('hostnamectl')) !== null) {
    return unescaped(await output(['hostnamectl', 'status', '--pretty'], context))
  }
  const lines = ((await textOf(MACHINE_INFO)) ?? '').split('\n')
  const value = lines.flatMap((line) => /^\s*PRETTY_HOSTNAME=(.*)$/.exec(line)?.[1] ?? []).at(-1)
  return value !== undefined && unescaped(value.trim().replace(/^(["'])(.*)\1$/, '$2'))
})

/**
 * Return the name of the host.
 *
 * @example salt '*' system.get_computer_name
 */
export const get_computer_name = fn(() => os.hostname())

const part = p.optional(p.integer())

/**
 * Set the time of day: `17:30`, `05:30 PM`, each with or without seconds. False for anything else.
 *
 * @example salt '*' system.set_system_time '11:20'
 */
export const set_system_time = fn({ newtime: p.string(), utc_offset }, ({ newtime, utc_offset }, context) => {
  const [hours, minutes, seconds] = readTime(newtime) ?? []
  return hours !== undefined && setClock({ hours, minutes, seconds }, utc_offset, context)
})

/**
 * Set the date: `2026-01-31`, `01/31/2026` and the like. The time of day stays.
 *
 * @example salt '*' system.set_system_date '03-28-13'
 */
export const set_system_date = fn({ newdate: p.string(), utc_offset }, ({ newdate, utc_offset }, context) => {
  const [years, months, days] = readDate(newdate) ?? []
  if (years === undefined) throw new SaltInvocationError('Invalid date format')
  return setClock({ years, months, days }, utc_offset, context)
})

/**
 * Set parts of the date and time; others stay.
 *
 * @example salt '*' system.set_system_date_time 2026 5 12 11 37 53
 * @example salt '*' system.set_system_date_time hours=12 minutes=0 utc_offset=-0700
 */
export const set_system_date_time = fn(
  { years: part, months: part, days: part, hours: part, minutes: part, seconds: part, utc_offset },
  ({ utc_offset, ...parts }, context) => setClock(parts, utc_offset, context),
)

/**
 * Set the description of the host (its pretty hostname).
 *
 * @example salt '*' system.set_computer_desc "Michael's laptop"
 */
export const set_computer_desc = fn({ desc: p.string() }, async ({ desc }, context) => {
  const text = desc.replaceAll('"', '\\"').replaceAll('\n', '\\n').replaceAll('\t', '\\t')
  if ((await which('hostnamectl')) !== null)
    return (await run(['hostnamectl', 'set-hostname', '--pretty', '--', text], context)).retcode === 0
  await rewrite(MACHINE_INFO, withPrettyName((await textOf(MACHINE_INFO)) ?? '', text))
  return true
})

/**
 * Set the name of the host, as `network.mod_hostname` does.
 *
 * @example salt '*' system.set_computer_name master.saltstack.com
 */
export const set_computer_name = fn({ hostname: p.string() }, ({ hostname }, { call }) =>
  call('network.mod_hostname', { hostname }),
)

/**
 * Note until the next restart that the host needs one (NI Linux Real-Time). True if that is written.
 *
 * @example salt '*' system.set_reboot_required_witnessed
 */
export const set_reboot_required_witnessed = fn(async () => {
  try {
    await mkdir(dirname(REBOOT_WITNESS), { recursive: true })
    await writeFile(REBOOT_WITNESS, '', { flag: 'a' })
    return true
  } catch {
    return false
  }
})

/**
 * True if somebody has noted that the host needs a restart (NI Linux Real-Time).
 *
 * @example salt '*' system.get_reboot_required_witnessed
 */
export const get_reboot_required_witnessed = fn(async () => (await textOf(REBOOT_WITNESS)) !== undefined)

const MACHINE_INFO = '/etc/machine-info'
const REBOOT_WITNESS = '/var/volatile/tmp/salt/reboot_witnessed'

async function isHardwareClockSettable(context: Context): Promise<boolean> {
  if ((await which('hwclock')) === null) return false
  const { retcode } = await run(['hwclock', '--test', '--systohc'], context, { ignoreRetcode: true })
  return retcode === 0
}

function timeOf(text: string | undefined): string {
  if (!text) return 'now'
  if (/^(now|\+?\d+|\d{1,2}:\d\d)$/.test(text)) return text
  throw new SaltInvocationError(`'${text}' is not a time: give minutes, such as 10, or a time, such as 17:30`)
}

/** Return now as a date whose local fields are those of another zone. */
function shifted(offset: string | undefined): Date {
  const now = new Date()
  if (offset === undefined) return now
  return new Date(now.getTime() + (minutesEast(offset) + now.getTimezoneOffset()) * 60_000)
}

/** Read an offset such as -0700; 0 for none. */
function minutesEast(offset: string | undefined): number {
  if (offset === undefined) return 0
  const [, sign, hours, minutes] = /^([+-]?)(\d\d)(\d\d)$/.exec(offset) ?? []
  if (hours === undefined) throw new SaltInvocationError('Invalid UTC offset')
  return (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -1 : 1)
}

interface ClockParts {
  readonly years?: number | undefined
  readonly months?: number | undefined
  readonly days?: number | undefined
  readonly hours?: number | undefined
  readonly minutes?: number | undefined
  readonly seconds?: number | undefined
}

/** Set the clock of the system, and the one of the hardware if that can be set. */
async function setClock(parts: ClockParts, offset: string | undefined, context: Context): Promise<boolean> {
  const now = shifted(offset)
  const { years = now.getFullYear(), months = now.getMonth() + 1, days = now.getDate() } = parts
  const { hours = now.getHours(), minutes = now.getMinutes(), seconds = now.getSeconds() } = parts
  const wanted = [years, months, days, hours, minutes, seconds] as const
  if (!isTime(wanted)) throw new SaltInvocationError(`${wanted.join(', ')} are no date and time`)
  const utc = new Date(
    Date.UTC(years, months - 1, days, hours, minutes, seconds) - minutesEast(offset) * 60_000,
  )
  const written = offset === undefined ? dateWord(wanted) : dateWord(utcParts(utc))
  const words = ['date', ...(offset === undefined ? [] : ['-u']), written]
  const { retcode, stderr } = await run(words, context)
  if (retcode !== 0) throw new CommandExecutionError(`date failed: ${stderr}`)
  if (await isHardwareClockSettable(context)) await run(['hwclock', '--systohc'], context)
  return true
}

type Moment = readonly [number, number, number, number, number, number]

/** Whether these are a date that exists, and a time. */
function isTime([years, months, days, hours, minutes, seconds]: Moment): boolean {
  const made = new Date(Date.UTC(years, months - 1, days, hours, minutes, seconds))
  return String(utcParts(made)) === String([years, months, days, hours, minutes, seconds])
}

const utcParts = (date: Date): Moment => [
  date.getUTCFullYear(),
  date.getUTCMonth() + 1,
  date.getUTCDate(),
  date.getUTCHours(),
  date.getUTCMinutes(),
  date.getUTCSeconds(),
]

/** Write a time as the program `date` takes it: MMDDhhmmCCYY.ss. */
function dateWord([years, ...rest]: Moment): string {
  const [months, days, hours, minutes, seconds] = rest.map((value) => String(value).padStart(2, '0'))
  return `${months}${days}${hours}${minutes}${String(years).padStart(4, '0')}.${seconds}`
}

/** Read a time of day, with AM and PM or of 24 hours. */
function readTime(text: string): number[] | undefined {
  const [, hour = '', minute = '', second = '0', half] =
    /^(\d{1,2}):(\d{1,2})(?::(\d{1,2}))?(?:\s+([AP]M))?$/i.exec(text) ?? []
  const [hours, minutes, seconds] = [hour, minute, second].map(Number) as [number, number, number]
  if (hour === '' || minutes > 59 || seconds > 61 || hours > (half ? 12 : 23) || (half && hours < 1))
    return undefined
  const later = half?.toUpperCase() === 'PM' ? 12 : 0
  return [half ? (hours % 12) + later : hours, minutes, seconds]
}

/** Read a date, with the year first or last. A year of two digits is one from 1969 to 2068. */
function readDate(text: string): number[] | undefined {
  const [year = 0, month = 0, day = 0] = partsOfDate(text) ?? []
  const date = new Date(Date.UTC(year, month - 1, day))
  const isReal = date.getUTCMonth() === month - 1 && date.getUTCDate() === day
  return isReal ? [year, month, day] : undefined
}

function partsOfDate(text: string): number[] | undefined {
  const first = /^(\d{4})([-/])(\d{1,2})\2(\d{1,2})$/.exec(text)
  if (first) return [first[1], first[3], first[4]].map(Number)
  const [, month, , day, year] = /^(\d{1,2})([-/])(\d{1,2})\2(\d{4}|\d\d)$/.exec(text) ?? []
  if (year === undefined) return undefined
  const century = year.length === 4 ? 0 : Number(year) < 69 ? 2000 : 1900
  return [century + Number(year), Number(month), Number(day)]
}

/** Set the line of the pretty hostname in the text of /etc/machine-info. */
function withPrettyName(text: string, name: string): string {
  const line = `PRETTY_HOSTNAME="${name}"`
  const lines = text.split('\n').filter((one, at, all) => one !== '' || at < all.length - 1)
  const at = lines.findIndex((one) => /^\s*PRETTY_HOSTNAME=/.test(one))
  if (at < 0) lines.push(line)
  else lines[at] = line
  return `${lines.join('\n')}\n`
}

const unescaped = (text: string): string =>
  text.replace(/\\([\\"nt])/g, (_, char: string) => ({ n: '\n', t: '\t' })[char] ?? char)
