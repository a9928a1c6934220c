/** IP addresses and networks as numbers, read in the forms that Python's `ipaddress` accepts. */
import { isIPv4, isIPv6 } from 'node:net'
import { SaltError } from '../errors.ts'

export interface Address {
  readonly version: 4 | 6
  readonly bits: bigint
}
export interface IpNetwork {
  readonly version: 4 | 6
  readonly hostBits: bigint
  /** The bits that all its addresses share, without the host part. */
  readonly prefix: bigint
}

export function parseAddress(text: string): Address | undefined {
  if (isIPv4(text)) return { version: 4, bits: joined(text.split('.').map(Number), 8n) }
  if (isIPv6(text) && !text.includes('%')) return { version: 6, bits: joined(groupsOf(text), 16n) }
  return undefined
}

/**
 * Parse an address, or `address/length`, `address/netmask` or `address/hostmask` whose host bits are all zero.
 * @throws SaltError TARGET_INVALID with the reason
 */
export function parseNetwork(text: string): IpNetwork {
  const [start = '', length, ...more] = text.split('/')
  const address = more.length === 0 ? parseAddress(start) : undefined
  const size = address?.version === 6 ? 128 : 32
  const ones = length === undefined ? size : prefixLength(length, size)
  if (!address || ones === undefined) throw invalid(text)
  const hostBits = BigInt(size - ones)
  const prefix = address.bits >> hostBits
  if (prefix << hostBits !== address.bits) throw insideNetwork(text, ones, size)
  return { version: address.version, hostBits, prefix }
}

export function isInNetwork(address: Address, network: IpNetwork): boolean {
  return address.version === network.version && address.bits >> network.hostBits === network.prefix
}

function prefixLength(text: string, size: number): number | undefined {
  if (/^\d+$/.test(text)) return Number(text) <= size ? Number(text) : undefined
  const mask = size === 32 ? parseAddress(text) : undefined
  const bits = mask?.bits.toString(2).padStart(32, '0') ?? ''
  const [, ones, zeros] = /^(?:(1*)0*|(0*)1*)$/.exec(bits) ?? []
  return (ones ?? zeros)?.length
}

const shortened = (text: string): string => (text.length > 80 ? `${text.slice(0, 77)}...` : text)

function invalid(text: string): SaltError {
  return new SaltError(
    'TARGET_INVALID',
    `'${shortened(text)}' is neither an IP address nor a network such as 10.0.0.0/8.`,
  )
}

function insideNetwork(text: string, ones: number, size: number): SaltError {
  return new SaltError(
    'TARGET_INVALID',
    `'${shortened(text)}' is an address inside a network: write it without the /${ones}, or with zeros in its last ${size - ones} bits for the whole network.`,
  )
}

/** The eight 16-bit groups of an IPv6 address. */
function groupsOf(text: string): number[] {
  const [head = '', tail] = text.split('::')
  const before = groups(head)
  const after = tail === undefined ? [] : groups(tail)
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after]
}

function groups(text: string): number[] {
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return group === '' ? [] : [Number.parseInt(group, 16)]
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number)
    return [a * 256 + b, c * 256 + d]
  })
}

function joined(parts: readonly number[], width: bigint): bigint {
  return parts.reduce((bits, part) => (bits << width) | BigInt(part), 0n)
}
