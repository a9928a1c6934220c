import { strftime } from '#internal'
import type { Json } from './api.ts'

/** Return items by their ids, with the time they were made in words, and sizes for people. */
export function byId(items: readonly Json[]): Record<string, Json> {
  return Object.fromEntries(
    items.filter(({ Id }) => typeof Id === 'string').map(({ Id, ...rest }) => [String(Id), described(rest)]),
  )
}

/** Add the time and the sizes of an image or a container in words. */
export function described({ Created, ...rest }: Json): Json {
  return {
    ...rest,
    ...(Created !== undefined && { Time_Created_Epoch: Created }),
    ...(typeof Created === 'number' && {
      Time_Created_Local: localTime(new Date(Created * 1000)),
    }),
    ...sizesOf(rest),
  }
}

/** Return the sizes of an image or a container in words. */
export const sizesOf = (item: Json): Json =>
  Object.fromEntries(
    ['Size', 'VirtualSize'].flatMap((key) => (key in item ? [[`${key}_Human`, inUnits(item[key])]] : [])),
  )

/** Return the numbers of a version such as `24.0.7-rc1`, as Salt compares them; undefined if it is none. */
export function versionNumbers(version: unknown): number[] | undefined {
  const found = /^\d+(?:\.\d+)+/.exec(String(version))
  return found?.[0].split('.').map(Number)
}

const localTime = (date: Date): string => `${strftime('%Y-%m-%d %H:%M:%S', date)} ${zoneAt(date)}`

/** Languages that have names of different time zones. */
const LANGUAGES = ['en-US', 'en-GB', 'en-AU', 'en-NZ', 'en-IN', 'en-ZA']

/** Return the abbreviation of the time zone at a time, such as CET; of a zone without one, its offset. */
function zoneAt(date: Date): string {
  const names = LANGUAGES.map((language) => {
    const parts = new Intl.DateTimeFormat(language, { timeZoneName: 'short' }).formatToParts(date)
    return parts.find(({ type }) => type === 'timeZoneName')?.value ?? ''
  })
  return names.find((name) => name && !/^GMT[+-]/.test(name)) ?? strftime('%z', date)
}

/** Write a number of bytes for people. */
export function inUnits(size: unknown): string {
  let number = Number(size)
  if (!Number.isFinite(number)) return 'unknown'
  if (number < 1024) return `${number} bytes`
  for (const unit of ['KiB', 'MiB', 'GiB', 'TiB', 'PiB']) {
    number /= 1024
    if (number < 1024) return `${number.toFixed(1)} ${unit}`
  }
  return 'unknown'
}
