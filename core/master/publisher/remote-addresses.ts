import { readFile } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { isOutOfFiles } from '../../process/open-files.ts'

const ESTABLISHED = '01'

/**
 * Return the addresses of peers connected to a TCP port of this host, from the kernel's tables; none where there are no such
 * tables. A peer on this host counts as connected from all its addresses. Rejects if no file descriptor is left.
 */
export async function remoteAddresses(port: number): Promise<ReadonlySet<string>> {
  const tables = await Promise.all(['tcp', 'tcp6'].map(tableOf))
  const found = new Set(tables.flatMap((table) => remotesIn(table, port)))
  const local = [...found].filter(isLoopback)
  for (const address of local) found.delete(address)
  if (local.length > 0) for (const address of ownAddresses()) found.add(address)
  return found
}

/** Read a table of the kernel; empty if there is none. */
async function tableOf(name: string): Promise<string> {
  try {
    return await readFile(`/proc/net/${name}`, 'utf8')
  } catch (error) {
    if (isOutOfFiles(error)) throw error
    return ''
  }
}

/** Parse rows of the kernel's table: `sl local:port remote:port state …`, numbers in hexadecimal. */
export function remotesIn(table: string, port: number): string[] {
  return table
    .split('\n')
    .map((row) => row.trim().split(/\s+/))
    .filter(([, local, , state]) => state === ESTABLISHED && portOf(local) === port)
    .map(([, , remote = '']) => addressOf(remote.split(':')[0] ?? ''))
}

const portOf = (address = '') => Number.parseInt(address.split(':')[1] ?? '', 16)

/** Parse an address: words of four bytes in little-endian order. IPv4 mapped into IPv6 becomes IPv4. */
function addressOf(hex: string): string {
  const bytes = Buffer.concat((hex.match(/.{8}/g) ?? []).map((word) => Buffer.from(word, 'hex').reverse()))
  const isMapped = bytes.length === 16 && bytes.subarray(0, 12).toString('hex') === `${'0'.repeat(20)}ffff`
  if (bytes.length === 4 || isMapped) return bytes.subarray(-4).join('.')
  const groups = bytes.toString('hex').match(/.{4}/g) ?? []
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1)
}

const isLoopback = (address: string) => address.startsWith('127.') || address === '::1'

function ownAddresses(): string[] {
  return Object.values(interfaces()).flatMap((all) =>
    (all ?? []).map(({ address }) => address).filter((address) => !isLoopback(address)),
  )
}

function interfaces(): ReturnType<typeof networkInterfaces> {
  try {
    return networkInterfaces()
  } catch (cause) {
    throw new Error('the addresses of this host cannot be read', { cause })
  }
}

/** Return the addresses in a minion's grains. */
export function grainAddresses(grains: Readonly<Record<string, unknown>> = {}): string[] {
  const { ipv4, ipv6 } = grains
  return [ipv4, ipv6]
    .flatMap((list) => (Array.isArray(list) ? list.map(String) : []))
    .filter((address) => !isLoopback(address))
}
