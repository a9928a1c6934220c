const hide: Readonly<Record<string, (value: unknown) => string>> = {
  serialnumber: hideEnd,
  domain: () => 'DOMAINNAME',
  fqdn: () => 'MINION.DOMAINNAME',
  id: () => 'MINION.DOMAINNAME',
  host: () => 'MINION',
  localhost: () => 'MINION',
  nodename: () => 'MINION',
}

/** Copy grains for publication: replace the names of the host and part of its serial number. */
export function sanitized(grains: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(grains).map(([key, value]) => [key, Object.hasOwn(hide, key) ? hide[key]!(value) : value]),
  )
}

function hideEnd(value: unknown): string {
  const text = String(value)
  const shown = Math.floor(text.length * 0.75)
  return text.slice(0, shown) + 'X'.repeat(text.length - shown)
}
