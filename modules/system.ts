/** Stop and restart the host, and show its time and name. */
import os from 'node:os'
import { fn, p, SaltInvocationError, type Virtual } from 'salt-ts'
import { strftime } from '#internal'
import { which } from './_cmd/which.ts'
import { textOf } from './_host/files.ts'
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
export const has_settable_hwclock = fn(async (_, context) => {
  if ((await which('hwclock')) === null) return false
  const { retcode } = await run(['hwclock', '--test', '--systohc'], context, { ignoreRetcode: true })
  return retcode === 0
})

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
  const lines = ((await textOf('/etc/machine-info')) ?? '').split('\n')
  const value = lines.flatMap((line) => /^\s*PRETTY_HOSTNAME=(.*)$/.exec(line)?.[1] ?? []).at(-1)
  return value !== undefined && unescaped(value.trim().replace(/^(["'])(.*)\1$/, '$2'))
})

/**
 * Return the name of the host.
 *
 * @example salt '*' system.get_computer_name
 */
export const get_computer_name = fn(() => os.hostname())

function timeOf(text: string | undefined): string {
  if (!text) return 'now'
  if (/^(now|\+?\d+|\d{1,2}:\d\d)$/.test(text)) return text
  throw new SaltInvocationError(`'${text}' is not a time: give minutes, such as 10, or a time, such as 17:30`)
}

/** Return now as a date whose local fields are those of another zone. */
function shifted(offset: string | undefined): Date {
  const now = new Date()
  if (offset === undefined) return now
  const [, sign, hours, minutes] = /^([+-]?)(\d\d)(\d\d)$/.exec(offset) ?? []
  if (hours === undefined) throw new SaltInvocationError('Invalid UTC offset')
  const east = (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -1 : 1)
  return new Date(now.getTime() + (east + now.getTimezoneOffset()) * 60_000)
}

const unescaped = (text: string): string =>
  text.replace(/\\([\\"nt])/g, (_, char: string) => ({ n: '\n', t: '\t' })[char] ?? char)
