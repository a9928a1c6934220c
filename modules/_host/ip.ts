/** Calculations with IP addresses and networks, as Python's `ipaddress` does them. */
import { isIPv4 } from 'node:net'
import { SaltInvocationError } from 'salt-ts'
import { type IpAddress, parseAddress } from '#internal'

/** A network, or an address within one. */
export interface Network {
  readonly version: 4 | 6
  readonly address: bigint
  readonly prefixLength: number
}

const widthOf = (version: 4 | 6): number => (version === 4 ? 32 : 128)

/** Read an address. @throws SaltInvocationError */
export function address(text: string): IpAddress {
  const found = parseAddress(text)
  if (found) return found
  throw new SaltInvocationError(`'${text}' does not appear to be an IPv4 or IPv6 address`)
}

/**
 * Read `address/length`, `address/netmask`, or an address as a network of its own; `netmask` may be given apart. The address
 * may be inside of the network.
 * @throws SaltInvocationError
 */
export function network(text: string, netmask?: string): Network {
  const [start = '', given = netmask] = text.split('/')
  const found = parseAddress(start)
  const prefixLength =
    found && (given === undefined ? widthOf(found.version) : lengthOf(given, found.version))
  if (found && prefixLength !== undefined)
    return { version: found.version, address: found.bits, prefixLength }
  throw new SaltInvocationError(
    `'${given === undefined ? start : `${start}/${given}`}' does not appear to be an IPv4 or IPv6 network`,
  )
}

function lengthOf(text: string, version: 4 | 6): number | undefined {
  if (/^\d+$/.test(text)) return Number(text) <= widthOf(version) ? Number(text) : undefined
  const mask = version === 4 && isIPv4(text) ? parseAddress(text)?.bits : undefined
  const [, ones, zeros] = /^(?:(1*)0*|(0*)1*)$/.exec(mask?.toString(2).padStart(32, '0') ?? 'x') ?? []
  return (ones ?? zeros)?.length
}

const hostBits = ({ version, prefixLength }: Network): bigint => BigInt(widthOf(version) - prefixLength)

/** The first address of a network. */
export const firstOf = (net: Network): bigint => (net.address >> hostBits(net)) << hostBits(net)
/** The last address of a network. */
export const lastOf = (net: Network): bigint => firstOf(net) + sizeOf(net) - 1n
/** The number of addresses of a network. */
export const sizeOf = (net: Network): bigint => 1n << hostBits(net)

/** The netmask of a network as an address. */
export const maskOf = (net: Network): string =>
  textOf(net.version, (1n << BigInt(widthOf(net.version))) - sizeOf(net))

/** Write a network: `10.0.0.0/8`. */
export const networkText = (net: Network): string =>
  `${textOf(net.version, firstOf(net))}/${net.prefixLength}`

/** Whether an address is in a network. */
export const contains = (net: Network, { version, bits }: IpAddress): boolean =>
  version === net.version && bits >= firstOf(net) && bits <= lastOf(net)

/** Write an address in its shortest form. */
export function textOf(version: 4 | 6, bits: bigint): string {
  const hex = bits.toString(16).padStart(widthOf(version) / 4, '0')
  if (version === 4) return [...Buffer.from(hex, 'hex')].join('.')
  return new URL(`http://[${hex.match(/.{4}/g)?.join(':')}]`).hostname.slice(1, -1)
}

const LOOPBACK = ['127.0.0.0/8', '::1/128'].map((text) => network(text))
const PRIVATE = [
  ...['0.0.0.0/8', '10.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/29'],
  ...['192.0.0.170/31', '192.0.2.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24'],
  ...['203.0.113.0/24', '240.0.0.0/4', '255.255.255.255/32', '::1/128', '::/128', '::ffff:0:0/96'],
  ...['100::/64', '2001::/23', '2001:2::/48', '2001:db8::/32', '2001:10::/28', 'fc00::/7', 'fe80::/10'],
].map((text) => network(text))

/** Whether an address is one of the host itself. */
export const isLoopback = (one: IpAddress): boolean => LOOPBACK.some((net) => contains(net, one))
/** Whether an address is not routed on the internet. */
export const isPrivate = (one: IpAddress): boolean => PRIVATE.some((net) => contains(net, one))

/** Return the name under which DNS has the name of an address. */
export function reversePointer(text: string): string {
  const { version, bits } = address(text)
  if (version === 4) return `${text.split('.').reverse().join('.')}.in-addr.arpa`
  return `${[...bits.toString(16).padStart(32, '0')].reverse().join('.')}.ip6.arpa`
}

/** Compare by version, address and length of the prefix. */
export function compareNetworks(one: Network, other: Network): number {
  const by =
    one.version - other.version ||
    Number(firstOf(one) > firstOf(other)) - Number(firstOf(one) < firstOf(other))
  return by || one.prefixLength - other.prefixLength
}
