type Property = string | string[] | Record<string, string>

const LISTS = ['Before', 'After', 'Wants']

/** Read what `systemctl show` prints: a property a line, of which some are lists, and some `{ path=… ; argv[]=… }`. */
export function readProperties(text: string): Record<string, Property> {
  const lines = text.split('\n').filter((line) => line.includes('='))
  return Object.fromEntries(
    lines.map((line) => {
      const [name, value] = halves(line)
      return [name, propertyValue(name, value)]
    }),
  )
}

function propertyValue(name: string, value: string): Property {
  if (value.startsWith('{')) return readStructure(value)
  return LISTS.includes(name) ? value.split(/\s+/).filter(Boolean) : value
}

function readStructure(value: string): Record<string, string> {
  const items = value
    .replace(/^\{\s*/, '')
    .replace(/\s*\}$/, '')
    .split(' ; ')
  return Object.fromEntries(items.map((item) => halves(item).map((half) => half.trim())))
}

function halves(text: string): [string, string] {
  const at = text.indexOf('=')
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}
