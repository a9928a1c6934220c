import os from 'node:os'
import { lineOf, namesIn } from '../_facts/files.ts'

export interface Interface {
  readonly name: string
  readonly ipv4: readonly string[]
  readonly ipv6: readonly string[]
  readonly hwaddr: string | undefined
}

/** Return all network interfaces in the kernel's order, including those without an address. */
export async function interfaces(): Promise<Interface[]> {
  const addresses = addressesByName()
  const names = new Set([...(await namesIn('/sys/class/net')), ...addresses.keys()])
  const found = await Promise.all([...names].map((name) => describe(name, addresses.get(name) ?? [])))
  return found.sort((a, b) => a.index - b.index).map(({ index: _, ...rest }) => rest)
}

async function describe(name: string, addresses: readonly os.NetworkInterfaceInfo[]) {
  const at = `/sys/class/net/${name}`
  const [index, hwaddr] = await Promise.all([lineOf(`${at}/ifindex`), lineOf(`${at}/address`)])
  const of = (family: string) => [
    ...new Set(addresses.filter((a) => a.family === family).map((a) => a.address)),
  ]
  const mac = hwaddr ?? addresses[0]?.mac
  return { name, index: Number(index ?? 1e9), ipv4: of('IPv4'), ipv6: of('IPv6'), hwaddr: mac }
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
