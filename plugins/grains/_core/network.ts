/** Grains of the network: addresses, gateways and name servers. */
import { BlockList, isIP } from 'node:net'
import os from 'node:os'
import { grains } from 'salt-ts'
import { gather } from '../_facts/gather.ts'
import { gateways } from '../_net/gateway.ts'
import { type Interface, interfaces } from '../_net/interfaces.ts'
import { addressesOf, namesOf, qualify, readHosts } from '../_net/names.ts'
import { readResolv } from '../_net/resolv.ts'

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8)
loopback.addAddress('::1', 'ipv6')

export default grains({
  collect: ({ log, opts }) =>
    gather(log, {
      interfaces: async () => addressGrains(await interfaces()),
      gateways,
      'name servers': async () => ({ dns: await readResolv() }),
      'the name of the host': nameGrains,
      'names of the addresses': async () => ({
        fqdns: await reverseNames(opts.enable_fqdns_grains !== false),
      }),
    }),
})

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

async function nameGrains(): Promise<Record<string, unknown>> {
  const [hosts, resolv] = await Promise.all([readHosts(), readResolv()])
  const hostname = os.hostname()
  const domains = [...(resolv?.search ?? []), ...(resolv?.domain ? [resolv.domain] : [])]
  const fqdn = await qualify(hostname, hosts, domains)
  const { ipv4, ipv6 } = await addressesOf(fqdn, hosts)
  const at = fqdn.indexOf('.')
  const [host, domain] = at < 0 ? [fqdn, ''] : [fqdn.slice(0, at), fqdn.slice(at + 1)]
  return { localhost: hostname, fqdn, host, domain, fqdn_ip4: ipv4, fqdn_ip6: ipv6 }
}

async function reverseNames(wanted: boolean): Promise<string[]> {
  if (!wanted) return []
  const [all, hosts] = await Promise.all([interfaces(), readHosts()])
  const addresses = all.flatMap(({ ipv4, ipv6 }) => [...ipv4, ...ipv6])
  return namesOf(
    addresses.filter((address) => !isLoopback(address)),
    hosts,
  )
}

const isLoopback = (address: string) => loopback.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')

const sorted = (addresses: readonly string[]): string[] =>
  [...new Set(addresses)].sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1))

// Pad the groups to equal length, so that text order is numeric order.
function sortKey(address: string): string {
  if (isIP(address) === 4)
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
