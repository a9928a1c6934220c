import type { Host } from './host.ts'

/** Return the name of the time zone, like Europe/Berlin, and its current abbreviation, like CET. Read from files: Intl takes 40 ms. */
export function timeZone(host: Host): { name: string; abbreviation: string } {
  const name = process.env.TZ?.replace(/^:/, '') || localZone(host)
  const path = process.env.TZ ? `/usr/share/zoneinfo/${name}` : '/etc/localtime'
  const data = host.bytes(path).toString('latin1')
  // The last line of a zone file is the rule for future years, as a POSIX TZ string.
  const rule = data.startsWith('TZif') ? data.trimEnd().slice(data.trimEnd().lastIndexOf('\n') + 1) : 'UTC0'
  return { name, abbreviation: abbreviationIn(rule, new Date().getTimezoneOffset()) }
}

function localZone(host: Host): string {
  const link = host.link('/etc/localtime')
  return /zoneinfo\/(?:posix\/|right\/)?(.+)$/.exec(link)?.[1] ?? host.line('/etc/timezone') ?? 'UTC'
}

/** Return the abbreviation that a POSIX rule such as `CET-1CEST,M3.5.0,M10.5.0/3` has for an offset in minutes west of Greenwich. */
export function abbreviationIn(rule: string, offset: number): string {
  const [, standard, sign, hours, minutes, summer] =
    /^(<[^>]+>|[A-Za-z]+)([+-]?)(\d+)(?::(\d+))?(?::\d+)?(<[^>]+>|[A-Za-z]+)?/.exec(rule) ?? []
  if (standard === undefined) return 'unknown'
  const west = (Number(hours) * 60 + Number(minutes ?? 0)) * (sign === '-' ? -1 : 1)
  return (west === offset ? standard : (summer ?? standard)).replace(/[<>]/g, '')
}
