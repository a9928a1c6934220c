/** Reads what PostgreSQL writes as text. */

/** Return the rows of CSV text, each a list; an unquoted empty value is an empty text. */
export function csvRows(text: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  const item = /(?:"((?:[^"]|"")*)"|([^,\n]*))(,|\r?\n|$)/gy
  for (let found = item.exec(text); found; found = item.exec(text)) {
    const [, quoted, plain = '', end] = found
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    if (end !== ',') {
      rows.push(row)
      row = []
    }
    if (item.lastIndex >= text.length) break
  }
  return rows
}

/** Return the elements of an array's text: `{a,"b c"}`. */
export function arrayItems(text: string): string[] {
  const inner = /^\{(.*)\}$/s.exec(text)?.[1] ?? ''
  return [...inner.matchAll(/"((?:[^"\\]|\\.)*)"|([^,]+)/gs)].map(([, quoted, plain = '']) =>
    quoted === undefined ? plain : quoted.replace(/\\(.)/gs, '$1'),
  )
}

/** Return the time of a timestamp's text in the ISO style, null for another or none. */
export function timeOf(text: string): Date | null {
  if (!/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(text)) return null
  return new Date(`${text.replace(' ', 'T')}Z`)
}

/** Whether a version is older than another: numbers are compared as such, other parts as text. */
export function isOlder(one: string, other: string): boolean {
  const [left, right] = [parts(one), parts(other)]
  for (let index = 0; index < Math.max(left.length, right.length); index++) {
    const [a = '', b = ''] = [left[index], right[index]]
    if (a === b) continue
    return /^\d+$/.test(a) && /^\d+$/.test(b) ? Number(a) < Number(b) : a < b
  }
  return false
}

const parts = (version: string): string[] => version.match(/\d+|[a-z]+/gi) ?? []
