/** Grains of the network: addresses, gateways and name servers. */
import { BlockList } from 'node:net'
import os from 'node:os'
import type { Source } from '../_facts/gather.ts'
import type { Host } from '../_facts/host.ts'
import { familyOf } from '../_net/family.ts'
import { gateways } from '../_net/gateway.ts'
import { type Interface, interfaces } from '../_net/interfaces.ts'
import { addressesOf, namesOf, qualify, readHosts } from '../_net/names.ts'
import { readResolv } from '../_net/resolv.ts'

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8)
loopback.addAddress('::1', 'ipv6')

const source: Source = (host, { opts }) => ({
  interfaces: async () => addressGrains(await interfaces(host)),
  gateways: () => gateways(host),
  'name servers': () => ({ dns: readResolv(host) }),
  'the name of the host': () => nameGrains(host),
  'names of the addresses': async () => ({
    fqdns: opts.enable_fqdns_grains === false ? [] : await reverseNames(host),
  }),
})
export default source

/** Return the addresses by interface, and all addresses in numeric order. */
export function addressGrains(all: readonly Interface[]): Record<string, unknown> {
  const by = (pick: (one: Interface) => unknown) =>
    Object.fromEntries(all.map((one) => [one.name, pick(one)]))
  return {
    ip_interfaces: by(({ ipv4, ipv6 }) => [...ipv4, ...ipv6]),
    ip4_interfaces: by(({ ipv4 }) => ipv4),
    ip6_interfaces: by(({ ipv6 }) => ipv6),
    hwaddr_interfaces: Object.fromEntries(
      all.flatMap(({ name, hwaddr }) => (hwaddr ? [[name, hwaddr]] : [])),
    ),
    ipv4: sorted(all.flatMap(({ ipv4 }) => ipv4)),
    ipv6: sorted(all.flatMap(({ ipv6 }) => ipv6)),
  }
}

async function nameGrains(host: Host): Promise<Record<string, unknown>> {
  const [hosts, resolv] = await Promise.all([readHosts(host), readResolv(host)])
  const hostname = os.hostname()
  const domains = [...(resolv?.search ?? []), ...(resolv?.domain ? [resolv.domain] : [])]
  const fqdn = await qualify(hostname, hosts, domains)
  const found = await addressesOf(fqdn, hosts)
  const isFound = found.ipv4.length + found.ipv6.length > 0
  const { ipv4, ipv6 } = isFound || fqdn !== hostname ? found : await ownAddresses(host)
  const at = fqdn.indexOf('.')
  const [name, domain] = at < 0 ? [fqdn, ''] : [fqdn.slice(0, at), fqdn.slice(at + 1)]
  return { localhost: hostname, fqdn, host: name, domain, fqdn_ip4: ipv4, fqdn_ip6: ipv6 }
}

/** Return what `nss-myhostname` answers for the name of this host: all its addresses. Without that plugin, nothing is found. */
async function ownAddresses(host: Host): Promise<{ ipv4: string[]; ipv6: string[] }> {
  if (!/^hosts:.*\bmyhostname\b/m.test(host.text('/etc/nsswitch.conf') ?? '')) return { ipv4: [], ipv6: [] }
  const all = await interfaces(host)
  const others = (addresses: readonly string[]) => addresses.filter((address) => !isLoopback(address))
  const ipv4 = others(all.flatMap((one) => one.ipv4))
  return { ipv4: ipv4.length > 0 ? ipv4 : ['127.0.0.2'], ipv6: others(all.flatMap((one) => one.ipv6)) }
}

async function reverseNames(host: Host): Promise<string[]> {
  const [all, hosts] = await Promise.all([interfaces(host), readHosts(host)])
  const addresses = all.flatMap(({ ipv4, ipv6 }) => [...ipv4, ...ipv6])
  return namesOf(
    addresses.filter((address) => !isLoopback(address)),
    hosts,
  )
}

const isLoopback = (address: string) => loopback.check(address, familyOf(address) === 6 ? 'ipv6' : 'ipv4')

const sorted = (addresses: readonly string[]): string[] =>
  [...new Set(addresses)].sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1))

// Pad the groups to equal length, so that text order is numeric order.
function sortKey(address: string): string {
  if (familyOf(address) === 4)
    return address
      .split('.')
      .map((part) => part.padStart(3, '0'))
      .join('.')
  const [head = '', tail] = address.split('::')
  const groups = (text: string | undefined) => (text ? text.split(':') : [])
  const zeros = Array.from({ length: 8 - groups(head).length - groups(tail).length }, () => '0')
  return [...groups(head), ...(tail === undefined ? [] : zeros), ...groups(tail)]
    .map((group) => group.padStart(4, '0'))
    .join(':')
}
