/** Read the text of the command INFO: `name:value` lines, whose values may be `name=value` pairs. */
export function parseInfo(text: string): Record<string, unknown> {
  const info: Record<string, unknown> = {}
  const collect = (name: string, value: unknown) => {
    info[name] = [...((info[name] as unknown[] | undefined) ?? []), value]
  }
  for (const line of text.split(/\r?\n/)) {
    if (line === '' || line.startsWith('#')) continue
    // Hosts in `cmdstat_host:…` may have colons.
    const at = line.startsWith('cmdstat_host:') ? line.lastIndexOf(':') : line.indexOf(':')
    if (at < 0) collect('__raw__', line)
    else if (line.startsWith('module:')) collect('modules', infoValue(line.slice(at + 1)))
    else info[line.slice(0, at)] = infoValue(line.slice(at + 1))
  }
  return info
}

function infoValue(text: string): unknown {
  if (!text.includes(',') && !text.includes('=')) return scalar(text)
  const items = text.split(',').filter(Boolean)
  if (!text.includes('=')) return items.map(infoValue)
  return Object.fromEntries(
    items.map((item): [string, unknown] => {
      const at = item.lastIndexOf('=')
      return at < 0 ? [item, true] : [item.slice(0, at), infoValue(item.slice(at + 1))]
    }),
  )
}

/** A number with a point stays a float, even if it is whole. */
function scalar(text: string): unknown {
  if (/^[+-]?\d+$/.test(text)) return Number.isSafeInteger(Number(text)) ? Number(text) : text
  return /^[+-]?(?:\d+\.\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? new Number(text) : text
}
