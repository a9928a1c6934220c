/** Read what `hdparm` prints. */

/** Return the values of the lines `name = value` and `name: value` of one disk, as Salt names them. */
export function readHdparm(text: string): Record<string, unknown> {
  const found: Record<string, unknown> = {}
  for (const line of text.split('\n').map((line) => line.trim())) {
    const at = line.includes(':') ? line.indexOf(':') : line.indexOf('=')
    if (at < 0 || line.startsWith('/dev')) continue
    const name = line.slice(0, at).replace(/ is$/, '').trim().toLowerCase().replaceAll(' ', '_')
    const value = readValue(line.slice(at + 1).trim())
    if (value !== undefined) found[name] = value
  }
  return found
}

/** Read `1 (on)`, `1/2, key=value`, or one word. Undefined for nothing. */
function readValue(text: string): unknown {
  const state = /^(\d+) +(\(.*\))/.exec(text)
  if (state) return [Number(state[1]), state[2]?.split(' ')[0]?.replace(/^[()]+|[()]+$/g, '')]
  const words = text.split(/[/,]/).map((word) => word.trim())
  const values: unknown[] = words.filter((word) => word !== '' && !word.includes('=')).map(numberOr)
  const named = words
    .filter((word) => word.includes('='))
    .map((word) => word.split(/=(.*)/s).map((part) => part.trim()))
  const deep = Object.fromEntries(named.filter(([, value]) => value))
  if (Object.keys(deep).length > 0) values.push(deep)
  return values.length > 1 ? values : values[0]
}

const numberOr = (word: string): unknown => (/^[+-]?\d+$/.test(word) ? Number(word) : word)

/** Return the sectors of a disk by what `hdparm -N` shows: visible and total ones, and whether some are hidden. */
export function protectedArea(data: Readonly<Record<string, unknown>>): Record<string, number> {
  const [visible = 0, total = 0, state = ''] = [Object.values(data)[0] ?? []].flat() as [
    number?,
    number?,
    unknown?,
  ]
  if (visible === total || String(state).includes('disabled')) return { total }
  return { total, visible, hidden: total - visible }
}
