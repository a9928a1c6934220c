/** Formats of syslog messages: RFC 5424, and the older RFC 3164. */
import { hostname } from 'node:os'

/** Severities in order, with Salt's names. */
export const LEVELS = [
  'LOG_EMERG',
  'LOG_ALERT',
  'LOG_CRIT',
  'LOG_ERR',
  'LOG_WARNING',
  'LOG_NOTICE',
  'LOG_INFO',
  'LOG_DEBUG',
] as const

/** Facilities by number. 12 to 15 have no name in C. */
const FACILITY_NUMBERS = {
  LOG_KERN: 0,
  LOG_USER: 1,
  LOG_MAIL: 2,
  LOG_DAEMON: 3,
  LOG_AUTH: 4,
  LOG_SYSLOG: 5,
  LOG_LPR: 6,
  LOG_NEWS: 7,
  LOG_UUCP: 8,
  LOG_CRON: 9,
  LOG_AUTHPRIV: 10,
  LOG_FTP: 11,
  LOG_LOCAL0: 16,
  LOG_LOCAL1: 17,
  LOG_LOCAL2: 18,
  LOG_LOCAL3: 19,
  LOG_LOCAL4: 20,
  LOG_LOCAL5: 21,
  LOG_LOCAL6: 22,
  LOG_LOCAL7: 23,
} as const

type Facility = keyof typeof FACILITY_NUMBERS
export const FACILITIES = Object.keys(FACILITY_NUMBERS) as Facility[]

export interface Origin {
  readonly level: string
  readonly facility: string
  /** 1 to 32 printable characters. */
  readonly tag: string
  readonly withPid: boolean
}

const priority = ({ level, facility }: Origin): number =>
  FACILITY_NUMBERS[facility as Facility] * 8 + (LEVELS as readonly string[]).indexOf(level)

export function rfc5424(origin: Origin, text: string, now = new Date()): Buffer {
  const pid = origin.withPid ? process.pid : '-'
  return Buffer.from(
    `<${priority(origin)}>1 ${now.toISOString()} ${hostname()} ${origin.tag} ${pid} - - ${text}`,
  )
}

export function rfc3164(origin: Origin, text: string, now = new Date()): Buffer {
  const [, month, time] = /^\w+ (\w+) \d+ \d+ ([\d:]+)/.exec(now.toString()) ?? []
  const day = String(now.getDate()).padStart(2)
  const pid = origin.withPid ? `[${process.pid}]` : ''
  return Buffer.from(
    `<${priority(origin)}>${month} ${day} ${time} ${hostname()} ${origin.tag}${pid}: ${text}`,
  )
}
