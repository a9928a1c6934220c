/** IP addresses as numbers. */
import { isIPv4, isIPv6 } from 'node:net'

export interface Address {
  readonly version: 4 | 6
  readonly bits: bigint
}
export interface Network {
  readonly version: 4 | 6
  readonly hostBits: bigint
  /** The bits of every address in it, without the host part. */
  readonly prefix: bigint
}

export function parseAddress(text: string): Address | undefined {
  if (isIPv4(text)) return { version: 4, bits: joined(text.split('.').map(Number), 8n) }
  if (isIPv6(text) && !text.includes('%')) return { version: 6, bits: joined(groupsOf(text), 16n) }
  return undefined
}

/** An address, or `address/length` or `address/netmask` whose host bits are all zero. */
export function parseNetwork(text: string): Network | undefined {
  const [start = '', length, ...more] = text.split('/')
  const address = parseAddress(start)
  if (!address || more.length > 0) return undefined
  const size = address.version === 4 ? 32 : 128
  const ones = length === undefined ? size : prefixLength(length, size)
  if (ones === undefined) return undefined
  const hostBits = BigInt(size - ones)
  const prefix = address.bits >> hostBits
  return prefix << hostBits === address.bits ? { version: address.version, hostBits, prefix } : undefined
}

function prefixLength(text: string, size: number): number | undefined {
  if (/^\d{1,3}$/.test(text)) return Number(text) <= size ? Number(text) : undefined
  const mask = size === 32 ? parseAddress(text) : undefined
  const ones = mask && /^(1*)0*$/.exec(mask.bits.toString(2).padStart(32, '0'))?.[1]
  return ones?.length
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
