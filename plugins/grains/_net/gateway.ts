import type { Host } from '../_facts/host.ts'
import { shortest } from './shortest.ts'

/** Return the default gateways: an address, true for a default route without one, false for none. */
export async function gateways(host: Host): Promise<Record<string, string | boolean>> {
  const [ipv4, ipv6] = await Promise.all(
    ['/proc/net/route', '/proc/net/ipv6_route'].map((path) => host.text(path)),
  )
  const ip4_gw = gatewayIn4(ipv4 ?? '')
  const ip6_gw = gatewayIn6(ipv6 ?? '')
  return { ip_gw: ip4_gw !== false || ip6_gw !== false, ip4_gw, ip6_gw }
}

/** Read /proc/net/route: interface, destination, gateway, flags, …, mask; hexadecimal numbers in little-endian order. */
export function gatewayIn4(table: string): string | boolean {
  const routes = table
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
  const route = routes
    .filter(([, destination, , , , , , mask]) => destination === '00000000' && mask === '00000000')
    .sort((a, b) => Number(a[6]) - Number(b[6]))[0]
  if (!route) return false
  const bytes = Buffer.from(route[2] ?? '', 'hex').reverse()
  return bytes.some(Boolean) ? [...bytes].join('.') : true
}

/** Read /proc/net/ipv6_route: destination, prefix, source, prefix, next hop, metric, …, interface. */
export function gatewayIn6(table: string): string | boolean {
  const zero = '0'.repeat(32)
  const routes = table.split('\n').map((line) => line.trim().split(/\s+/))
  const route = routes
    .filter(
      ([destination, prefix, , , , , , , , device]) =>
        destination === zero && prefix === '00' && device !== 'lo',
    )
    .sort((a, b) => Number.parseInt(a[5] ?? '', 16) - Number.parseInt(b[5] ?? '', 16))[0]
  if (!route) return false
  return route[4] === zero ? true : shortest(route[4]?.match(/.{4}/g)?.join(':') ?? '')
}
