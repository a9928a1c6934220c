import { CommandNotFoundError, type Context } from 'salt-ts'
import { fnmatch } from '#internal'
import { which } from '../_cmd/which.ts'
import { maskOf, network } from './ip.ts'
import { run } from './programs.ts'

interface Inet {
  readonly address: string
  readonly netmask: string
  readonly broadcast: string | null
  readonly label: string
}
interface Inet6 {
  readonly address: string
  readonly prefixlen: string
  readonly scope: string | null
}
/** An interface, in the shape of `network.interfaces`. */
export interface Interface {
  up?: boolean
  parent?: string
  hwaddr?: string
  inet?: Inet[]
  inet6?: Inet6[]
  secondary?: ((Inet | Inet6) & { readonly type: string })[]
}
export type Interfaces = Record<string, Interface>

/** Return the interfaces of this host, as `ip address show` lists them. */
export async function interfaces(context: Context): Promise<Interfaces> {
  if ((await which('ip')) === null) {
    throw new CommandNotFoundError('ip, which lists the interfaces; install iproute2')
  }
  return readInterfaces((await run(['ip', 'address', 'show'], context)).stdout)
}

/** Read the output of `ip address show`. */
export function readInterfaces(text: string): Interfaces {
  const found: Interfaces = {}
  let current: Interface = {}
  for (const line of text.split('\n')) {
    const [, name, parent, flags] = /^\d+:\s+([^\s:@]+)(?:@([^\s:]+))?:\s+<(.*?)>/.exec(line) ?? []
    if (name !== undefined) {
      current = { up: (flags ?? '').split(',').includes('UP'), ...(parent !== undefined && { parent }) }
      found[name] = current
    } else read(line.trim().split(/\s+/), current)
  }
  return found
}

function read(words: readonly string[], into: Interface): void {
  const [type = '', value = ''] = words
  if (type.startsWith('link/')) into.hwaddr = value
  if (type === 'inet') add(into, 'inet', inet(value, words), words)
  if (type === 'inet6') add(into, 'inet6', inet6(value, words), words)
}

function add(into: Interface, type: 'inet' | 'inet6', entry: Inet | Inet6, words: readonly string[]): void {
  if (words.includes('secondary')) into.secondary = [...(into.secondary ?? []), { type, ...entry }]
  else if ('netmask' in entry) into.inet = [...(into.inet ?? []), entry]
  else into.inet6 = [...(into.inet6 ?? []), entry]
}

function inet(value: string, words: readonly string[]): Inet {
  const [address = '', length = '32'] = value.split('/')
  const broadcast = after('brd', words)
  return { address, netmask: maskOf(network(address, length)), broadcast, label: words.at(-1) ?? '' }
}

function inet6(value: string, words: readonly string[]): Inet6 {
  const [address = '', prefixlen = '128'] = value.split('/')
  return { address, prefixlen, scope: after('scope', words) }
}

function after(word: string, words: readonly string[]): string | null {
  const at = words.indexOf(word)
  return at < 0 ? null : (words[at + 1] ?? null)
}

/** Choose interfaces by names or shell patterns, in a list or separated by commas. */
export function chosen(all: Interfaces, names: string | readonly string[] | undefined): Interfaces {
  if (names === undefined) return all
  const patterns = [names].flat().flatMap((text) => text.split(',').map((name) => name.trim()))
  return Object.fromEntries(
    Object.entries(all).filter(([name]) => patterns.some((pattern) => fnmatch(name, pattern))),
  )
}

/** Return all addresses of a family with the length of their network, also secondary ones. */
export function addressesIn(all: Interfaces, family: 'inet' | 'inet6'): { address: string; mask: string }[] {
  return Object.values(all).flatMap((one) => {
    const more = (one.secondary ?? []).filter(({ type }) => type === family)
    return [...(one[family] ?? []), ...more].map((entry) => ({
      address: entry.address,
      mask: 'netmask' in entry ? entry.netmask : entry.prefixlen,
    }))
  })
}
