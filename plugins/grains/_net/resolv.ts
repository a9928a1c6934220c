import type { Host } from '../_facts/host.ts'
import { familyOf } from './family.ts'
import { shortest } from './shortest.ts'

interface Resolv {
  readonly nameservers: string[]
  readonly ip4_nameservers: string[]
  readonly ip6_nameservers: string[]
  readonly sortlist: string[]
  readonly domain: string
  readonly search: string[]
  readonly options: string[]
}

/** Read the resolver configuration. With systemd-resolved, it has the real servers rather than the stub. */
export function readResolv(host: Host): Resolv | undefined {
  const resolved = '/run/systemd/resolve/resolv.conf'
  const text = host.text(host.exists(resolved) ? resolved : '/etc/resolv.conf')
  return text === undefined ? undefined : parseResolv(text)
}

export function parseResolv(text: string): Resolv {
  const lines = text.split('\n').map((line) =>
    line
      .replace(/(^|\s)[#;].*/, '')
      .trim()
      .split(/\s+/),
  )
  const all = (directive: string) =>
    lines.filter(([name]) => name?.toLowerCase() === directive).map(([, ...words]) => words)
  const nameservers = [
    ...new Set(
      all('nameserver').flatMap(([address = '']) => (familyOf(address) ? [shortestOf(address)] : [])),
    ),
  ]
  return {
    nameservers,
    ip4_nameservers: nameservers.filter((address) => familyOf(address) === 4),
    ip6_nameservers: nameservers.filter((address) => familyOf(address) === 6),
    sortlist: all('sortlist').flat(),
    domain: all('domain').at(-1)?.[0] ?? '',
    search: all('search').at(-1) ?? [],
    options: [...new Set(all('options').flatMap(([first]) => first ?? []))],
  }
}

const shortestOf = (address: string) => (familyOf(address) === 6 ? shortest(address) : address)
