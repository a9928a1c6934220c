/** The filters that Salt adds for IP addresses and networks. */
import { randomBytes } from 'node:crypto'
import { lookup } from 'node:dns/promises'
import { isIPv6 } from 'node:net'
import { isInNetwork, parseAddress, parseNetwork } from '#internal'
import { macDigits, takesConnections } from '../../_host/reach.ts'
import { isMapping } from '../../_values/traverse.ts'
import type { Environment, Filter } from '../environment.ts'
import { asTemplateError, TemplateError } from '../errors.ts'
import { bind, REQUIRED, withoutArguments } from '../values/arguments.ts'
import { entries } from '../values/dicts.ts'
import { integer } from '../values/numbers.ts'
import { type CallArguments, typeOf } from '../values/objects.ts'
import { elements, isTrue } from '../values/sequences.ts'
import { strictText, text } from '../values/text.ts'
import { onText } from './on-text.ts'

type Version = 4 | 6

/** A network with more hosts is refused. */
const MAX_HOSTS = 65_536

/** An address, which may have a length of its prefix, and a zone. */
interface IpInterface {
  readonly version: Version
  readonly bits: bigint
  readonly zone: string
  readonly prefixLength: number | undefined
}

function interfaceOf(value: unknown): IpInterface | undefined {
  if (typeof value !== 'string') return undefined
  const [, start = '', zone = '', digits] = /^([^%/]*)(%[^%/]+)?(?:\/(\d{1,3}))?$/.exec(value) ?? []
  const address = parseAddress(start)
  if (!address || (zone !== '' && address.version === 4)) return undefined
  const prefixLength = digits === undefined ? undefined : Number(digits)
  return (prefixLength ?? 0) <= bitsOf(address.version) ? { ...address, zone, prefixLength } : undefined
}

const bitsOf = (version: Version): number => (version === 4 ? 32 : 128)

/** Write an address as Python does: the longest run of zeros of IPv6 is left out. */
function shown(version: Version, bits: bigint): string {
  const size = version === 4 ? 8n : 16n
  const count = version === 4 ? 4 : 8
  const parts = Array.from(
    { length: count },
    (_, at) => (bits >> (size * BigInt(count - 1 - at))) & ((1n << size) - 1n),
  )
  if (version === 4) return parts.join('.')
  return new URL(`http://[${parts.map((part) => part.toString(16)).join(':')}]`).hostname.slice(1, -1)
}

const withLength = ({ version, bits, zone, prefixLength }: IpInterface, usual?: number): string => {
  const ones = prefixLength ?? usual
  return shown(version, bits) + zone + (ones === undefined ? '' : `/${ones}`)
}

function refuseOptions(given: CallArguments): void {
  const { options } = bind({ options: null }, given)
  if (options !== null)
    throw new TemplateError(`the options '${text(options)}' of addresses are not supported`)
}

/** Those values of a list that are addresses, or the value itself. Null if it is none. */
const addresses =
  (version: Version | undefined): Filter =>
  (value, given) => {
    refuseOptions(given)
    const one = (each: unknown) => {
      const found = interfaceOf(each)
      return found && (version ?? found.version) === found.version ? withLength(found) : null
    }
    return Array.isArray(value)
      ? byVersion(value)
          .map(one)
          .filter((each) => each !== null)
      : one(value)
  }

/** Salt gives the addresses of IPv4 first. */
const byVersion = (values: readonly unknown[]): unknown[] =>
  [4, 6].flatMap((version) => values.filter((value) => interfaceOf(value)?.version === version))

/** Return a filter that computes something of an address, or of each address of a list. Null if there is none. */
const ofEach =
  (compute: (found: IpInterface) => unknown): Filter =>
  (value, given, environment) => {
    const found = addresses(undefined)(value, given, environment)
    const all = (Array.isArray(found) ? found : [found]).flatMap((each) => interfaceOf(each) ?? [])
    if (all.length === 0) return null
    return Array.isArray(value) ? all.map(compute) : compute(all[0] as IpInterface)
  }

const hostBits = ({ version, prefixLength }: IpInterface): number =>
  bitsOf(version) - (prefixLength ?? bitsOf(version))

/** Without the address of the network, and the broadcast address of IPv4. */
function hosts(network: IpInterface): string[] {
  const free = hostBits(network)
  if (2 ** free > MAX_HOSTS) throw new TemplateError(`networks of more than ${MAX_HOSTS} hosts are refused`)
  const first = (network.bits >> BigInt(free)) << BigInt(free)
  const [before, after] = free < 2 ? [0, 0] : [1, network.version === 4 ? 1 : 0]
  return Array.from({ length: 2 ** free - before - after }, (_, at) =>
    shown(network.version, first + BigInt(at + before)),
  )
}

function networkSize(network: IpInterface): bigint | number {
  const size = 1n << BigInt(hostBits(network))
  return Number.isSafeInteger(Number(size)) ? Number(size) : size
}

/** Keep the addresses that are in one of the networks: those of a list, or of the lists of a map. */
function filterByNetworks(values: unknown, given: CallArguments): unknown {
  const { networks } = bind({ networks: REQUIRED }, given)
  if (networks === null) return values
  const all = elements(networks).map((network) => asTemplateError(() => parseNetwork(text(network))))
  const kept = (list: unknown) =>
    elements(list).flatMap((each) => {
      const address = parseAddress(text(each))
      if (!address) throw new TemplateError(`'${text(each)}' does not appear to be an IPv4 or IPv6 address`)
      return all.filter((network) => isInNetwork(address, network)).map(() => each)
    })
  if (isMapping(values)) return new Map(entries(values).map(([key, list]) => [key, kept(list)]))
  if (!Array.isArray(values) && typeof values !== 'string')
    throw new TemplateError(`Do not know how to filter a <class '${typeOf(values)}'>`)
  return kept(values)
}

const isAddress =
  (version: Version | undefined): Filter =>
  (value, given) => {
    refuseOptions(given)
    const found = interfaceOf(value)
    return found !== undefined && found.version === (version ?? found.version)
  }

/** Write an address of IPv6 in brackets. */
const wrapped = (value: unknown): unknown =>
  typeof value === 'string' && value.includes(':') && parseAddress(value) ? `[${value}]` : value

/** An address of Ethernet that begins with the value, which Salt takes to be of private use by default. */
const randomMac = withoutArguments((prefix) => {
  const bytes = [...randomBytes(3)].map((byte) => byte.toString(16).padStart(2, '0').toUpperCase())
  return [text(prefix), ...bytes].join(':')
})

const macBytes = onText((mac) => {
  const digits = macDigits(mac)
  if (!/^[\da-f]{12}$/i.test(digits)) throw new TemplateError('Invalid MAC address')
  return Buffer.from(digits, 'hex')
})

/** How long to wait for a connection to each address. */
const CONNECT_MS = 2000

/**
 * Resolve a name, and return the first of its addresses to which a connection can be made; the first of all if there is none.
 * `ipv6` selects one kind of addresses; where a name has none of IPv6, its others are taken.
 */
async function checkDns(value: unknown, given: CallArguments, { signal }: Environment): Promise<unknown> {
  const { port, ipv6 } = bind({ port: REQUIRED, safe: false, ipv6: null }, given)
  const name = strictText(value)
  const all = (await lookup(name, { all: true }).catch(() => [])).map(({ address }) => address)
  const wanted = ipv6 === null ? all : all.filter((address) => isIPv6(address) === isTrue(ipv6))
  const candidates = wanted.length === 0 && ipv6 === true ? all : wanted
  for (const address of candidates) {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(CONNECT_MS)])
    if (await takesConnections(address, integer(port), limit)) return wrapped(address)
  }
  if (candidates[0] === undefined)
    throw new TemplateError(`DNS lookup or connection check of '${name}' failed.`)
  return wrapped(candidates[0])
}

export const networkFilters: Readonly<Record<string, Filter>> = {
  dns_check: checkDns,
  http_query: (url, { args, kwargs }, { callFunction }) =>
    callFunction('http.query', { args: [url, ...args], kwargs }),
  gen_mac: randomMac,
  mac_str_to_bytes: macBytes,
  is_ip: isAddress(undefined),
  is_ipv4: isAddress(4),
  is_ipv6: isAddress(6),
  ipaddr: addresses(undefined),
  ipv4: addresses(4),
  ipv6: addresses(6),
  ip_host: ofEach((found) => withLength(found, bitsOf(found.version))),
  ipwrap: withoutArguments((value) => (Array.isArray(value) ? value.map(wrapped) : wrapped(value))),
  network_hosts: ofEach(hosts),
  network_size: ofEach(networkSize),
  filter_by_networks: filterByNetworks,
}
