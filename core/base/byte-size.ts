const UNITS = ['', 'K', 'M', 'G', 'T']

/**
 * Return the bytes of a size such as `512M`, `1.5 GiB` or a number. Units are powers of 1024. Undefined for anything
 * else.
 */
export function byteSize(given: string | number): number | undefined {
  const [, digits, unit = ''] = /^(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?$/i.exec(String(given).trim()) ?? []
  if (digits === undefined) return undefined
  return Math.floor(Number(digits) * 1024 ** UNITS.indexOf(unit.toUpperCase()))
}

/** Return a size as people read it: `512 MiB`. */
export function sizeText(bytes: number): string {
  const power = UNITS.findLastIndex((_, n) => n === 0 || bytes >= 1024 ** n)
  const amount = bytes / 1024 ** power
  return power === 0 ? `${bytes} bytes` : `${Number(amount.toFixed(1))} ${UNITS[power]}iB`
}
