import { type Context, SaltInvocationError } from 'salt-ts'
import { textOf } from './files.ts'
import { textOf as addressText, networkText } from './ip.ts'
import { run } from './programs.ts'

/** A route, in the shape of `network.routes`. */
export interface Route {
  readonly addr_family: 'inet' | 'inet6'
  readonly destination: string
  readonly gateway: string
  readonly netmask: string
  readonly flags: string
  readonly interface: string
}

/** Flags of routes in the kernel, and the letters that netstat writes for them, in its order. */
const FLAGS = new Map([
  [0x1, 'U'],
  [0x200, '!'],
  [0x2, 'G'],
  [0x4, 'H'],
  [0x8, 'R'],
  [0x10, 'D'],
  [0x20, 'M'],
])
const FLAGS6 = new Map([...FLAGS, [0x40000, 'A'], [0x1000000, 'C'], [0x200000, 'n']])

/** Return the routes of the main table of IPv4, then all of IPv6. */
export async function routes(): Promise<Route[]> {
  const [inet, inet6] = await Promise.all(['/proc/net/route', '/proc/net/ipv6_route'].map(textOf))
  return [...readRoutes(inet ?? ''), ...readRoutes6(inet6 ?? '')]
}

/** Read /proc/net/route, whose addresses are little-endian. */
export function readRoutes(table: string): Route[] {
  const [, ...lines] = table.split('\n').filter(Boolean)
  return lines.map((line) => {
    const [name = '', destination = '', gateway = '', flags = '', , , , mask = ''] = line.trim().split(/\s+/)
    return {
      addr_family: 'inet' as const,
      destination: reversed(destination),
      gateway: reversed(gateway),
      netmask: reversed(mask),
      flags: letters(flags, FLAGS),
      interface: name,
    }
  })
}

/** Read /proc/net/ipv6_route: destination, length, source, length, gateway, metric, uses, uses, flags, interface. */
export function readRoutes6(table: string): Route[] {
  const lines = table.split('\n').filter(Boolean)
  return lines.map((line) => {
    const words = line.trim().split(/\s+/)
    const [destination = '0', length = '0', , , gateway = '0', , , , flags = '0', name = ''] = words
    const prefixLength = Number.parseInt(length, 16)
    return {
      addr_family: 'inet6' as const,
      destination: networkText({ version: 6, address: BigInt(`0x${destination}`), prefixLength }),
      gateway: addressText(6, BigInt(`0x${gateway}`)),
      netmask: '',
      flags: letters(flags, FLAGS6),
      interface: name,
    }
  })
}

const reversed = (hex: string): string => [...Buffer.from(hex, 'hex').reverse()].join('.')

function letters(hex: string, known: ReadonlyMap<number, string>): string {
  const flags = BigInt(`0x${hex}`)
  return [...known].map(([bit, letter]) => ((flags & BigInt(bit)) === 0n ? '' : letter)).join('')
}

/** Return by which gateway, interface and source address the kernel reaches an address. */
export async function routeTo(ip: string, context: Context) {
  const { stdout, stderr } = await run(['ip', 'route', 'get', ip], context)
  const found = readRouteTo(stdout)
  if (found) return { destination: ip, ...found }
  throw new SaltInvocationError(`There is no route to '${ip}': ${stderr || stdout}`)
}

/** Read the output of `ip route get`. */
export function readRouteTo(text: string) {
  const [, gateway = null, name, source] =
    /^(?:.*?via\s+([\w.:]+))?.*?\s+dev\s+([\w.:-]+)\s+.*?src\s+([\w.:]+)/.exec(text.split('\n')[0] ?? '') ??
    []
  return name === undefined ? undefined : { gateway, interface: name, source }
}
