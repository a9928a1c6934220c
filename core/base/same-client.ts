import { parseAddress } from './ip-network.ts'

/** Whoever has one address of IPv6 has 2^64 of them: they count as one. */
export function sameClient(address: string): string {
  const plain = plainAddress(address)
  const parsed = parseAddress(plain)
  return parsed?.version === 6 ? `${(parsed.bits >> 64n).toString(16)}::/64` : plain
}

/** IPv4 as such, also where the socket is one of IPv6. */
export const plainAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '')
