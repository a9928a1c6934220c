import { Resolver } from 'node:dns/promises'
import type { Host } from '../_facts/host.ts'
import { familyOf } from './family.ts'

/** Limit for all queries to name servers together: grains must not wait for a server that is down. */
const BUDGET_MS = 75

/** An entry of the hosts file: an address, its canonical name and its aliases. */
interface HostsEntry {
  readonly address: string
  readonly names: readonly string[]
}

export function readHosts(host: Host): HostsEntry[] {
  return parseHosts(host.text('/etc/hosts') ?? '')
}

export function parseHosts(text: string): HostsEntry[] {
  const lines = text.split('\n').map((line) => line.replace(/#.*/, '').trim().split(/\s+/))
  return lines.flatMap(([address = '', ...names]) =>
    familyOf(address) && names.length > 0 ? [{ address, names }] : [],
  )
}

/** Return the fully qualified name of a host: its own, the one in the hosts file, or that in the first search domain that has it. */
export async function qualify(
  host: string,
  hosts: readonly HostsEntry[],
  search: readonly string[],
): Promise<string> {
  if (host.includes('.')) return host
  const entries = hosts.filter(({ names }) => names.includes(host))
  const names = entries.flatMap((entry) => entry.names)
  const listed = names.find((name) => name.startsWith(`${host}.`)) ?? entries[0]?.names[0]
  if (listed) return listed
  const candidates = search.map((domain) => `${host}.${domain.replace(/\.$/, '')}`)
  const known = await withinBudget((resolver) =>
    Promise.all(candidates.map((name) => isKnown(resolver, name))),
  )
  return candidates.find((_, index) => known?.[index]) ?? host
}

/** Return the addresses of a name, from the hosts file, else from DNS. */
export async function addressesOf(
  name: string,
  hosts: readonly HostsEntry[],
): Promise<{ ipv4: string[]; ipv6: string[] }> {
  const listed = hosts.filter(({ names }) => names.includes(name)).map(({ address }) => address)
  if (listed.length > 0 || !name.includes('.')) return split(listed)
  const found = await withinBudget((resolver) =>
    Promise.all([resolver.resolve4(name).catch(() => []), resolver.resolve6(name).catch(() => [])]),
  )
  return split(found?.flat() ?? [])
}

/** Return all names of the addresses, sorted. */
export async function namesOf(addresses: readonly string[], hosts: readonly HostsEntry[]): Promise<string[]> {
  const listed = hosts
    .filter(({ address }) => addresses.includes(address))
    .flatMap(({ names }) => names.slice(0, 1))
  const found = await withinBudget((resolver) =>
    Promise.all(addresses.map((address) => resolver.reverse(address).catch(() => []))),
  )
  return [...new Set([...listed, ...(found?.flat() ?? [])])].sort()
}

const split = (addresses: readonly string[]) => ({
  ipv4: [...new Set(addresses.filter((address) => familyOf(address) === 4))],
  ipv6: [...new Set(addresses.filter((address) => familyOf(address) === 6))],
})

async function isKnown(resolver: Resolver, name: string): Promise<boolean> {
  const answers = await Promise.all(
    [resolver.resolve4(name), resolver.resolve6(name)].map((a) => a.catch(() => [])),
  )
  return answers.some((addresses) => addresses.length > 0)
}

// After the limit, queries that have been answered count, and the others fail.
async function withinBudget<T>(ask: (resolver: Resolver) => Promise<T>): Promise<T | undefined> {
  const resolver = new Resolver({ timeout: BUDGET_MS, tries: 1 })
  const timer = setTimeout(() => resolver.cancel(), BUDGET_MS)
  try {
    return await ask(resolver)
  } catch {
    return undefined
  } finally {
    clearTimeout(timer)
  }
}
