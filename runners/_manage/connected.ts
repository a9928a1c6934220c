/** Lists connected minions, for the many functions that Salt has for it. */
import type { Context } from 'salt-ts'

interface Wanted {
  readonly subset: string | readonly string[] | undefined
  readonly show_ip: boolean
}

/** Return the accepted minions that are connected, or those that are not: ids, or id → address. */
export async function connected(
  master: Context['master'],
  wanted: boolean,
  { subset, show_ip }: Wanted,
): Promise<string[] | Record<string, string | null>> {
  const online = new Set(await master.connectedIds())
  const named = typeof subset === 'string' ? subset.split(',').map((id) => id.trim()) : subset
  const accepted = await master.acceptedIds()
  const ids = accepted.filter((id) => online.has(id) === wanted && (named?.includes(id) ?? true)).sort()
  if (!show_ip) return ids
  const addresses = ids.map(async (id) => [id, addressIn(await master.cachedGrains(id))] as const)
  return Object.fromEntries(await Promise.all(addresses))
}

/** Return the first address that other hosts can reach; null if none is known. */
function addressIn(grains: Readonly<Record<string, unknown>> | undefined): string | null {
  const { fqdn_ip4, ipv4, ipv6 } = grains ?? {}
  const all = [fqdn_ip4, ipv4, ipv6].flat().filter((one): one is string => typeof one === 'string')
  return all.find((address) => !/^(?:127\.|::1$|fe80:)/.test(address)) ?? null
}
