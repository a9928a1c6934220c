/** Show the network of the host: interfaces, addresses, routes and connections; and reach other hosts. */
import { lookupService } from 'node:dns/promises'
import os from 'node:os'
import { CommandExecutionError, type Context, fn, p, type Virtual } from 'salt-ts'
import { isInNetwork, parseNetwork } from '#internal'
import { which } from './_cmd/which.ts'
import { linesOf } from './_host/files.ts'
import { addressesIn, chosen, type Interface, interfaces as readHost } from './_host/interfaces.ts'
import * as ip from './_host/ip.ts'
import { readNetstat, readSs, readTraceroute } from './_host/open-sockets.ts'
import { output, requireProgram, run } from './_host/programs.ts'
import { hostName, tryConnect, wake } from './_host/reach.ts'
import { renameInFiles } from './_host/rename-host.ts'
import { routes as readRoutes, routeTo } from './_host/routes.ts'
import { establishedTcp } from './_host/sockets.ts'

const host = p.string()
const iface = p.string()
const ip_addr = p.string()
const which_ = p.optional(p.union(p.string(), p.array(p.string())))
const include_loopback = p.default(p.boolean(), false)
const cidr = p.optional(p.string())
const family = p.optional(p.string({ description: 'inet or inet6.' }))

export const virtual: Virtual = ({ grains }) =>
  grains.kernel === 'Linux' || 'The network module reads /proc/net, which only Linux has'

/**
 * Send the packet that wakes a computer by its hardware address.
 *
 * @example salt '*' network.wol 08-00-27-13-69-77
 * @example salt '*' network.wol 080027136977 255.255.255.255 7
 */
export const wol = fn(
  {
    mac: p.string(),
    bcast: p.default(p.string(), '255.255.255.255'),
    destport: p.default(p.integer({ minimum: 1, maximum: 65_535 }), 9),
  },
  async ({ mac, bcast, destport }) => {
    await wake(mac, bcast, destport)
    return true
  },
)

/**
 * Send four ICMP echo requests to a host and return what `ping` prints. `timeout` is in seconds.
 *
 * @example salt '*' network.ping archlinux.org
 * @example salt '*' network.ping archlinux.org timeout=3 return_boolean=True
 */
export const ping = fn(
  {
    host,
    timeout: p.default(p.union(p.boolean(), p.number()), false),
    return_boolean: p.default(p.boolean(), false),
  },
  async ({ host, timeout, return_boolean }, context) => {
    const limit = typeof timeout === 'number' && timeout > 0 ? ['-W', String(timeout)] : []
    const words = ['ping', ...limit, '-c', '4', hostName(host)]
    return return_boolean ? (await run(words, context)).retcode === 0 : output(words, context)
  },
)

/**
 * List the sockets of TCP and UDP, with their programs, as `netstat` or `ss` shows them.
 *
 * @example salt '*' network.netstat
 */
export const netstat = fn(async (_, context) => {
  if ((await which('netstat')) !== null) return readNetstat(await output(['netstat', '-tulpnea'], context))
  return readSs(await output(['ss', '-tulpnea'], context))
})

/**
 * Return the established TCP connections, numbered.
 *
 * @example salt '*' network.active_tcp
 */
export const active_tcp = fn(async () => new Map((await establishedTcp()).entries()))

/**
 * Return the hops to a host.
 *
 * @example salt '*' network.traceroute archlinux.org
 */
export const traceroute = fn({ host }, async ({ host }, context) => {
  await requireProgram('traceroute')
  return readTraceroute(await output(['traceroute', hostName(host)], context))
})

/**
 * Return what `dig` prints about a name.
 *
 * @example salt '*' network.dig archlinux.org
 */
export const dig = fn({ host }, async ({ host }, context) => {
  await requireProgram('dig')
  return output(['dig', hostName(host)], context)
})

/**
 * Return the addresses of neighbours by their hardware address.
 *
 * @example salt '*' network.arp
 */
export const arp = fn(async () => {
  const [, ...rows] = (await linesOf('/proc/net/arp')).map((line) => line.split(/\s+/))
  const complete = rows.filter(([, , flags]) => flags !== '0x0')
  return Object.fromEntries(complete.map(([address, , , hardware = '']) => [hardware, address]))
})

/**
 * Return all interfaces with their addresses.
 *
 * @example salt '*' network.interfaces
 */
export const interfaces = fn((_, context) => readHost(context))

/**
 * Return the hardware address of an interface.
 *
 * @example salt '*' network.hw_addr eth0
 */
export const hw_addr = fn({ iface }, ({ iface }, context) =>
  ofInterface(iface, context, ({ hwaddr = '' }) => hwaddr),
)

/**
 * Alias of `network.hw_addr`.
 *
 * @example salt '*' network.hwaddr eth0
 */
export { hw_addr as hwaddr }

/**
 * Return the IPv4 addresses of an interface.
 *
 * @example salt '*' network.interface eth0
 */
const interface_ = fn(
  { iface },
  ({ iface }, context): Promise<unknown> => ofInterface(iface, context, ({ inet = '' }) => inet),
)

export { interface_ as interface }

/**
 * Return the first IPv4 address of an interface.
 *
 * @example salt '*' network.interface_ip eth0
 */
export const interface_ip = fn({ iface }, ({ iface }, context) =>
  ofInterface(iface, context, ({ inet }) => inet?.[0]?.address ?? ''),
)

/**
 * List the IPv4 networks that the host is in.
 *
 * @example salt '*' network.subnets
 * @example salt '*' network.subnets interfaces=eth1
 */
export const subnets = fn({ interfaces: which_ }, async ({ interfaces }, context) => {
  const names = interfaces === undefined ? undefined : [interfaces].flat()
  const all = Object.entries(await readHost(context))
  const wanted = all.filter(([name]) => names?.includes(name) ?? true)
  return listed(networksIn(Object.fromEntries(wanted), 'inet', false))
})

/**
 * List the IPv6 networks that the host is in.
 *
 * @example salt '*' network.subnets6
 */
export const subnets6 = fn(async (_, context) => listed(networksIn(await readHost(context), 'inet6', false)))

/**
 * True if the host has an address in a network.
 *
 * @example salt '*' network.in_subnet 10.0.0.0/16
 */
export const in_subnet = fn({ cidr: p.string() }, async ({ cidr }, context) => {
  const all = await readHost(context)
  return isIn(cidr, [...addresses(all, 'inet', false), ...addresses(all, 'inet6', false)], context)
})

/**
 * True if an address is in a network.
 *
 * @example salt '*' network.ip_in_subnet 172.17.0.4 172.16.0.0/12
 */
export const ip_in_subnet = fn({ ip_addr, cidr: p.string() }, ({ ip_addr, cidr }, context) => {
  ip.address(ip_addr) // refuses what is no address
  return isIn(cidr, [ip_addr], context)
})

/**
 * Return the network, netmask and broadcast address of a network in CIDR notation.
 *
 * @example salt '*' network.convert_cidr 172.31.0.0/16
 */
export const convert_cidr = fn({ cidr: p.string() }, ({ cidr }) => {
  const net = ip.network(cidr)
  return {
    network: ip.textOf(net.version, ip.firstOf(net)),
    netmask: ip.maskOf(net),
    broadcast: ip.textOf(net.version, ip.lastOf(net)),
  }
})

/**
 * Return the network of an address.
 *
 * @example salt '*' network.calc_net 172.17.0.5 255.255.255.240
 * @example salt '*' network.calc_net 2a02:f6e:a000:80:84d8:8332:7866:4e07/64
 */
export const calc_net = fn({ ip_addr, netmask: p.optional(p.string()) }, ({ ip_addr, netmask }) =>
  ip.networkText(ip.network(ip_addr, netmask)),
)

/**
 * List the IPv4 addresses of the host, sorted: of interfaces that match shell patterns, in a network, or only those of the
 * `type` public or private.
 *
 * @example salt '*' network.ip_addrs
 * @example salt '*' network.ip_addrs 'eth*' cidr=10.0.0.0/8
 */
export const ip_addrs = fn(
  { interface: which_, include_loopback, cidr, type: p.optional(p.string()) },
  async ({ interface: names, include_loopback, cidr, type }, context) => {
    const found = addresses(chosen(await readHost(context), names), 'inet', include_loopback)
    if (cidr) return found.filter((one) => isIn(cidr, [one], context))
    if (type !== 'public' && type !== 'private') return found
    return found.filter((one) => ip.isPrivate(ip.address(one)) === (type === 'private'))
  },
)

/**
 * Alias of `network.ip_addrs`.
 *
 * @example salt '*' network.ipaddrs
 */
export { ip_addrs as ipaddrs }

/**
 * List the IPv6 addresses of the host, sorted.
 *
 * @example salt '*' network.ip_addrs6
 */
export const ip_addrs6 = fn(
  { interface: which_, include_loopback, cidr },
  async ({ interface: names, include_loopback, cidr }, context) => {
    const found = addresses(chosen(await readHost(context), names), 'inet6', include_loopback)
    return cidr ? found.filter((one) => isIn(cidr, [one], context)) : found
  },
)

/**
 * Alias of `network.ip_addrs6`.
 *
 * @example salt '*' network.ipaddrs6
 */
export { ip_addrs6 as ipaddrs6 }

/**
 * Return the name of the host.
 *
 * @example salt '*' network.get_hostname
 */
export const get_hostname = fn(() => os.hostname())

/**
 * Set the name of the host: of the running system, and in /etc/hosts, /etc/hostname (Debian) or /etc/sysconfig/network (RedHat).
 * True if it was set.
 *
 * @example salt '*' network.mod_hostname master.saltstack.com
 */
export const mod_hostname = fn({ hostname: p.nullable(p.string()) }, async ({ hostname }, context) => {
  if (hostname === null) return false
  if (
    !/^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/i.test(hostname) ||
    hostname.length > 253
  )
    throw new CommandExecutionError(`'${hostname}' is not the name of a host`)
  const before = os.hostname()
  const words = (await which('hostnamectl')) === null ? ['hostname'] : ['hostnamectl', 'set-hostname']
  if ((await run([...words, hostname], context)).retcode !== 0) return false
  await renameInFiles(before, hostname, context.grains.os_family)
  return true
})

/**
 * Return the names that the addresses of the host have in DNS, sorted, as `fqdns`.
 *
 * @example salt '*' network.fqdns
 */
export const fqdns = fn(async (_, context) => {
  const all = await readHost(context)
  const found = [...addresses(all, 'inet', false), ...addresses(all, 'inet6', false)]
  const names = await Promise.all(found.map((address) => lookupService(address, 0).catch(() => undefined)))
  const known = names.flatMap((one, at) => (one && one.hostname !== found[at] ? one.hostname : []))
  return { fqdns: [...new Set(known)].sort() }
})

/**
 * Return the sizes of the ring buffers of an interface, by `ethtool`: of now, and with `-max` what is possible; an empty map
 * without ethtool.
 *
 * @example salt '*' network.get_bufsize eth0
 */
export const get_bufsize = fn({ iface }, async ({ iface }, context) => {
  if ((await which('ethtool')) === null) return {}
  return readRings(await output(['ethtool', '-g', interfaceName(iface)], context))
})

/**
 * Set sizes of the ring buffers of an interface: rx, tx, rx-mini, rx-jumbo. False without ethtool.
 *
 * @example salt '*' network.mod_bufsize eth0 tx=1024 rx=1024
 */
export const mod_bufsize = fn(
  { iface, args: p.rest(p.any()), kwargs: p.keywords(p.any()) },
  async ({ iface, args, kwargs }, context) => {
    if ((await which('ethtool')) === null) return false
    if (args.length > 0) return { result: false, comment: `Unknown arguments: ${args.join(' ')}` }
    const sizes = RINGS.filter((name) => kwargs[name] !== undefined && kwargs[name] !== null)
    if (sizes.length === 0)
      return { result: false, comment: 'Requires rx=<val> tx==<val> rx-mini=<val> and/or rx-jumbo=<val>' }
    const words = sizes.flatMap((name) => [name, String(kwargs[name])])
    const printed = await output(['ethtool', '-G', interfaceName(iface), ...words], context)
    return { result: printed === '', comment: printed || words.join(' ') }
  },
)

const RINGS = ['rx', 'tx', 'rx-mini', 'rx-jumbo']

/** Read what `ethtool -g` prints: the sizes that are possible, then those of now. */
function readRings(printed: string): Record<string, unknown> {
  const sizes: Record<string, unknown> = {}
  let suffix = 'max-'
  for (const line of printed.split('\n')) {
    const [, name, size] = /^(.+):\s+(\d+)$/.exec(line) ?? []
    if (name !== undefined) sizes[name.toLowerCase().replaceAll(' ', '-') + suffix] = Number(size)
    else if (line.endsWith('maximums:')) suffix = '-max'
    else if (line.endsWith('settings:')) suffix = ''
  }
  const result = Object.keys(sizes).length > 0
  return { result, ...sizes, ...(!result && { comment: printed.split(/\s+/).join(' ').trim() }) }
}

function interfaceName(name: string): string {
  if (/^[^-\s/][^\s/]*$/.test(name)) return name
  throw new CommandExecutionError(`'${name}' is not the name of an interface`)
}

/**
 * Return the fully qualified name of the host.
 *
 * @example salt '*' network.get_fqdn
 */
export const get_fqdn = fn((_, { grains }) => String(grains.fqdn ?? os.hostname()))

/**
 * Try to connect to a port. `proto` is tcp or udp (a datagram has to be answered), `family` ipv4 or ipv6, `timeout` in
 * seconds.
 *
 * @example salt '*' network.connect archlinux.org 80
 * @example salt '*' network.connect archlinux.org 80 timeout=3 family=ipv4
 */
export const connect = fn(
  {
    host,
    port: p.optional(p.union(p.integer(), p.string())),
    proto: p.default(p.string(), 'tcp'),
    timeout: p.default(p.number({ minimum: 0 }), 5),
    family: p.optional(p.string()),
  },
  async ({ host, port, ...how }, { signal }) => {
    if (host === '') return { result: false, comment: 'Required argument, host, is missing.' }
    if (!port) return { result: false, comment: 'Required argument, port, is missing.' }
    return tryConnect({ host, port, ...how }, signal)
  },
)

/**
 * True if an address is not routed on the internet.
 *
 * @example salt '*' network.is_private 10.0.0.3
 */
export const is_private = fn({ ip_addr }, ({ ip_addr }) => ip.isPrivate(ip.address(ip_addr)))

/**
 * True if an address is a loopback address.
 *
 * @example salt '*' network.is_loopback 127.0.0.1
 */
export const is_loopback = fn({ ip_addr }, ({ ip_addr }) => ip.isLoopback(ip.address(ip_addr)))

/**
 * Return the name under which DNS has the name of an address.
 *
 * @example salt '*' network.reverse_ip 172.17.0.4
 */
export const reverse_ip = fn({ ip_addr }, ({ ip_addr }) => ip.reversePointer(ip_addr))

/**
 * List the routes of the host.
 *
 * @example salt '*' network.routes
 * @example salt '*' network.routes inet6
 */
export const routes = fn({ family }, ({ family }) => routesOf(family))

/**
 * List the default routes of the host.
 *
 * @example salt '*' network.default_route
 */
export const default_route = fn({ family }, async ({ family }) =>
  (await routesOf(family)).filter(({ destination }) => ['0.0.0.0', '::/0', 'default'].includes(destination)),
)

/**
 * Return by which gateway, interface and source address the host reaches an address.
 *
 * @example salt '*' network.get_route 10.10.10.10
 */
export const get_route = fn({ ip: p.string() }, ({ ip }, context) => routeTo(hostName(ip), context))

/**
 * List the interfaces that have an IPv4 address which begins with a text.
 *
 * @example salt '*' network.ifacestartswith 10.0
 */
export const ifacestartswith = fn({ cidr: p.string() }, async ({ cidr }, context) =>
  Object.values(await readHost(context)).flatMap(({ inet = [] }) =>
    inet.filter(({ address }) => address.startsWith(cidr)).map(({ label }) => label),
  ),
)

/**
 * Return an IPv4 address in hexadecimal digits.
 *
 * @example salt '*' network.iphexval 10.0.0.1
 */
export const iphexval = fn({ ip: p.string() }, ({ ip: text }) => {
  const { version, bits } = ip.address(text)
  if (version !== 4) throw new CommandExecutionError(`'${text}' is not an IPv4 address`)
  return bits.toString(16).toUpperCase().padStart(8, '0')
})

/**
 * List the IPv4 networks of interfaces, with `verbose` as a map with their size.
 *
 * @example salt '*' network.ip_networks
 * @example salt '*' network.ip_networks eth0 verbose=True
 */
export const ip_networks = fn(
  { interface: which_, include_loopback, verbose: p.default(p.boolean(), false) },
  async ({ interface: names, include_loopback, verbose }, context) =>
    described(networksIn(chosen(await readHost(context), names), 'inet', include_loopback), verbose),
)

/**
 * List the IPv6 networks of interfaces, with `verbose` as a map with their size.
 *
 * @example salt '*' network.ip_networks6
 */
export const ip_networks6 = fn(
  { interface: which_, include_loopback, verbose: p.default(p.boolean(), false) },
  async ({ interface: names, include_loopback, verbose }, context) =>
    described(networksIn(chosen(await readHost(context), names), 'inet6', include_loopback), verbose),
)

type Family = 'inet' | 'inet6'
type All = Readonly<Record<string, Interface>>

async function ofInterface<T>(
  name: string,
  context: Context,
  read: (found: Interface) => T,
): Promise<T | string> {
  const all = await readHost(context)
  const found = all[name]
  if (found !== undefined) return read(found)
  const message = `Interface "${name}" not in available interfaces: "${Object.keys(all).join('", "')}"`
  context.log.error(message)
  return message
}

function addresses(all: All, family: Family, withLoopback: boolean): string[] {
  const found = [...new Set(addressesIn(all, family).map(({ address }) => address))].map(ip.address)
  const kept = found.filter((one) => withLoopback || !ip.isLoopback(one))
  return kept
    .sort((a, b) => Number(a.bits > b.bits) - Number(a.bits < b.bits))
    .map((a) => ip.textOf(a.version, a.bits))
}

function networksIn(all: All, family: Family, withLoopback: boolean): ip.Network[] {
  const found = addressesIn(all, family).map(({ address, mask }) => ip.network(address, mask))
  const unique = [...new Map(found.map((net) => [ip.networkText(net), net])).values()]
  return unique
    .filter(({ version, address }) => withLoopback || !ip.isLoopback({ version, bits: address }))
    .sort(ip.compareNetworks)
}

const listed = (networks: readonly ip.Network[]): string[] => networks.map(ip.networkText)

function described(networks: readonly ip.Network[], verbose: boolean) {
  if (!verbose) return listed(networks)
  return Object.fromEntries(
    networks.map((net) => [
      ip.networkText(net),
      {
        address: ip.textOf(net.version, ip.firstOf(net)),
        netmask: ip.maskOf(net),
        num_addresses: ip.sizeOf(net),
        prefixlen: net.prefixLength,
      },
    ]),
  )
}

function isIn(cidr: string, found: readonly string[], { log }: Context): boolean {
  try {
    const net = parseNetwork(cidr)
    return found.some((one) => isInNetwork(ip.address(one), net))
  } catch (error) {
    log.error(`Invalid CIDR '${cidr}': ${String((error as Error).message)}`)
    return false
  }
}

async function routesOf(family: string | undefined) {
  if (family !== undefined && family !== 'inet' && family !== 'inet6') {
    throw new CommandExecutionError(`Invalid address family ${family}`)
  }
  const all = await readRoutes()
  return family === undefined ? all : all.filter(({ addr_family }) => addr_family === family)
}
