import { readFile } from 'node:fs/promises'
import { SaltError } from '../base/errors.ts'
import { type Holder, holdersOf, holderText } from '../process/holders.ts'

/** Find the process that listens on a TCP port of this host; undefined if unknown (other systems, no permission). */
export async function findPortHolder(port: number): Promise<Holder | undefined> {
  return holderOfSocket(await listeningInodes(port))
}

/** Find the process that listens on a unix socket of this host. */
export async function findSocketHolder(path: string): Promise<Holder | undefined> {
  const text = await readFile('/proc/net/unix', 'utf8').catch(() => '')
  const rows = text.split('\n').map((line) => line.trim().split(/\s+/))
  const listening = rows.filter(([, , , flags, , , , own]) => flags === LISTENS && own === path)
  return holderOfSocket(new Set(listening.flatMap(([, , , , , , inode]) => inode ?? [])))
}

/** Flag of listening sockets in /proc/net/unix: `__SO_ACCEPTCON`. */
const LISTENS = '00010000'

async function holderOfSocket(inodes: ReadonlySet<string>): Promise<Holder | undefined> {
  if (inodes.size === 0) return undefined
  const isHeldSocket = (link: string) => link.startsWith('socket:[') && inodes.has(link.slice(8, -1))
  for await (const holder of holdersOf(isHeldSocket)) return holder
  return undefined
}

export const nameOfHolder = (holder: Holder | undefined): string =>
  holder ? holderText(holder) : 'another process'

/** Create the error for a port in use; `options` names the options to change. */
export function addressInUse(
  host: string,
  port: number,
  holder: Holder | undefined,
  options = "'publish_port' or 'ret_port'",
): SaltError {
  return new SaltError(
    'ADDRESS_IN_USE',
    `Cannot listen on ${host}:${port}: ${nameOfHolder(holder)} already does. Stop it, or set ${options} to another port.`,
    { host, port, ...holder },
  )
}

/** Return the inodes of the sockets that listen on the port (state 0A), from /proc/net. */
async function listeningInodes(port: number): Promise<Set<string>> {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const inodes = new Set<string>()
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    const text = await readFile(table, 'utf8').catch(() => '')
    for (const line of text.split('\n').slice(1)) {
      const [, local, , state, , , , , , inode] = line.trim().split(/\s+/)
      if (state === '0A' && inode && local?.endsWith(suffix)) inodes.add(inode)
    }
  }
  return inodes
}
