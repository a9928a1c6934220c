import { parseAddress } from './ip-network.ts'

/**
 * Return the key under which a client's address is counted: the /64 network of an IPv6 address, since one host can use
 * all of it.
 */
export function sameClient(address: string): string {
  const plain = plainAddress(address)
  const parsed = parseAddress(plain)
  return parsed?.version === 6 ? `${(parsed.bits >> 64n).toString(16)}::/64` : plain
}

/** Return an IPv4 address without the `::ffff:` prefix it has on an IPv6 socket; other addresses unchanged. */
export const plainAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '')
