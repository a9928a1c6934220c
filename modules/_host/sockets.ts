import { textOf } from './files.ts'

export interface Connection {
  readonly local_addr: string
  readonly local_port: number
  readonly remote_addr: string
  readonly remote_port: number
}

const ESTABLISHED = '01'

/** Return the established TCP connections, of IPv4, then of IPv6. */
export async function establishedTcp(): Promise<Connection[]> {
  const tables = await Promise.all(['/proc/net/tcp', '/proc/net/tcp6'].map(textOf))
  return tables.flatMap((table) => readEstablished(table ?? ''))
}

/** Read /proc/net/tcp or tcp6. */
export function readEstablished(table: string): Connection[] {
  const rows = table
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
  return rows
    .filter(([, , , state]) => state === ESTABLISHED)
    .map(([, local = '', remote = '']) => {
      const [from, to] = [endpoint(local), endpoint(remote)]
      return {
        local_addr: from.address,
        local_port: from.port,
        remote_addr: to.address,
        remote_port: to.port,
      }
    })
}

/** Return an address and port that the kernel writes as hexadecimal digits. */
export function endpoint(text: string): { address: string; port: number } {
  const [hex = '', port = ''] = text.split(':')
  return { address: addressOf(hex), port: Number.parseInt(port, 16) }
}

/** The kernel writes an address as numbers of 32 bits in the byte order of the machine, which is little-endian. */
function addressOf(hex: string): string {
  const bytes = (hex.match(/.{8}/g) ?? []).flatMap((group) => [...Buffer.from(group, 'hex').reverse()])
  if (bytes.length === 4) return bytes.join('.')
  const isMapped = bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 255 && bytes[11] === 255
  if (isMapped) return bytes.slice(12).join('.')
  const groups = Buffer.from(bytes).toString('hex').match(/.{4}/g) ?? []
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1)
}
