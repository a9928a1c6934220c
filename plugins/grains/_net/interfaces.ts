import os from 'node:os'
import type { Host } from '../_facts/host.ts'
import { shortest } from './shortest.ts'

export interface Interface {
  readonly name: string
  readonly ipv4: readonly string[]
  readonly ipv6: readonly string[]
  readonly hwaddr: string | undefined
}

/** Return all network interfaces in the kernel's order, including those without an address. */
export async function interfaces(host: Host): Promise<Interface[]> {
  const addresses = addressesByName()
  const names = new Set([...host.names('/sys/class/net'), ...addresses.keys()])
  const found = await Promise.all([...names].map((name) => describe(host, name, addresses.get(name) ?? [])))
  return found.sort((a, b) => a.index - b.index).map(({ index: _, ...rest }) => rest)
}

async function describe(host: Host, name: string, addresses: readonly os.NetworkInterfaceInfo[]) {
  const at = `/sys/class/net/${name}`
  const [index, type, address] = await Promise.all(
    ['ifindex', 'type', 'address'].map((fact) => host.line(`${at}/${fact}`)),
  )
  const of = (family: string) => [
    ...new Set(addresses.filter((a) => a.family === family).map((a) => a.address)),
  ]
  // Without /sys, Node knows the address, unless the interface has none.
  const hwaddr = index === undefined ? addresses[0]?.mac : linkAddress(address, type)
  return { name, index: Number(index ?? 1e9), ipv4: of('IPv4'), ipv6: of('IPv6'), hwaddr }
}

// An alias such as eth0:1 labels an address of eth0.
function addressesByName(): Map<string, os.NetworkInterfaceInfo[]> {
  const byName = new Map<string, os.NetworkInterfaceInfo[]>()
  for (const [label, list] of Object.entries(os.networkInterfaces())) {
    const name = label.split(':')[0]!
    byName.set(name, [...(byName.get(name) ?? []), ...(list ?? [])])
  }
  return byName
}

/** Numbers of the kinds of tunnels between IPv4 addresses: ipip, sit, gre. */
const IPV4_TUNNELS = ['768', '776', '778']
/** Those between IPv6 addresses: ip6tnl, ip6gre. */
const IPV6_TUNNELS = ['769', '823']

/** Return the hardware address of an interface as `ip link` prints it: for a tunnel, the IP address of its own end. */
export function linkAddress(address: string | undefined, type: string | undefined): string | undefined {
  const bytes = address?.split(':') ?? []
  if (IPV4_TUNNELS.includes(type ?? '')) return bytes.map((byte) => Number.parseInt(byte, 16)).join('.')
  if (!IPV6_TUNNELS.includes(type ?? '')) return address
  return shortest(bytes.join('').match(/.{4}/g)?.join(':') ?? '')
}
