/** The months as Salt and programs of Unix write them. */
export const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** Return a job id or an ISO time as Salt shows times: `2026, Nov 21 03:42:12.345678`. Empty for any other text. */
export function timeText(time: string): string {
  const digits = time.replace(/\D/g, '')
  const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d{3,6})/.exec(digits)
  if (!parts) return ''
  const [, year, month, day, hours, minutes, seconds, fraction] = parts
  return `${year}, ${MONTHS[Number(month) - 1] ?? month} ${day} ${hours}:${minutes}:${seconds}.${fraction?.padEnd(6, '0')}`
}

/** Return the ISO 8601 time of a {@link timeText}, read as UTC. Undefined for any other text. */
export function isoOfTimeText(text: string): string | undefined {
  const parts = /^(\d{4}), (\w{3}) (\d\d) (\d\d:\d\d:\d\d\.\d{3})\d*\s*$/.exec(text)
  const month = MONTHS.indexOf(parts?.[2] ?? '') + 1
  return parts && month > 0
    ? `${parts[1]}-${String(month).padStart(2, '0')}-${parts[3]}T${parts[4]}Z`
    : undefined
}
