/** The names of a record, in their order, unless others are wanted. */
export const USUAL_FIELDS = [
  '__REALTIME_TIMESTAMP',
  '_HOSTNAME',
  '_SYSTEMD_UNIT',
  'SYSLOG_IDENTIFIER',
  '_PID',
  'PRIORITY',
  'MESSAGE',
]

const NUMBERS = ['PRIORITY', 'SYSLOG_FACILITY', 'SYSLOG_PID', '_PID', '_UID', '_GID', 'CODE_LINE', 'ERRNO']

type JournalValue = string | number | null | (string | number)[]
export type JournalRecord = Record<string, JournalValue>

/** Read an entry that journalctl printed as JSON. All its fields are returned if none are named. */
export function readRecord(line: string, fields?: readonly string[]): JournalRecord {
  const entry = JSON.parse(line) as Readonly<Record<string, unknown>>
  const names = fields ?? Object.keys(entry).sort()
  return Object.fromEntries(
    names.filter((name) => Object.hasOwn(entry, name)).map((name) => [name, fieldValue(name, entry[name])]),
  )
}

// A value is text, or a list of bytes if it is not UTF-8; a field that is there several times has a list of values.
function fieldValue(name: string, value: unknown): JournalValue {
  if (Array.isArray(value) && !value.every(Number.isInteger))
    return value.map((one) => fieldValue(name, one) as string | number)
  if (Array.isArray(value)) return Buffer.from(value).toString()
  if (typeof value !== 'string') return null
  if (name === '__REALTIME_TIMESTAMP') return timeText(value)
  return NUMBERS.includes(name) && /^-?\d{1,15}$/.test(value) ? Number(value) : value
}

/** Return a time in microseconds since 1970 as ISO 8601 in UTC: `2026-11-26T16:34:51.168646Z`. */
function timeText(microseconds: string): string {
  const seconds = Number(microseconds.slice(0, -6))
  const date = new Date(seconds * 1000)
  if (!/^\d{7,17}$/.test(microseconds) || Number.isNaN(date.getTime())) return microseconds
  return `${date.toISOString().slice(0, 19)}.${microseconds.slice(-6)}Z`
}
