import { readFile } from 'node:fs/promises'
import { SaltError } from '../base/errors.ts'
import { type Holder, holdersOf, holderText } from '../base/holders.ts'

/** Who listens on this TCP port of this machine; undefined if that cannot be found out (other systems, no rights). */
export async function findPortHolder(port: number): Promise<Holder | undefined> {
  return holderOfSocket(await listeningInodes(port))
}

/** Who listens on a unix socket of this machine, in the same way. */
export async function findSocketHolder(path: string): Promise<Holder | undefined> {
  const text = await readFile('/proc/net/unix', 'utf8').catch(() => '')
  const rows = text.split('\n').map((line) => line.trim().split(/\s+/))
  const listening = rows.filter(([, , , flags, , , , own]) => flags === LISTENS && own === path)
  return holderOfSocket(new Set(listening.flatMap(([, , , , , , inode]) => inode ?? [])))
}

/** Of a unix socket in the kernel's table: `__SO_ACCEPTCON`. */
const LISTENS = '00010000'

async function holderOfSocket(inodes: ReadonlySet<string>): Promise<Holder | undefined> {
  if (inodes.size === 0) return undefined
  const isMeant = (link: string) => link.startsWith('socket:[') && inodes.has(link.slice(8, -1))
  for await (const holder of holdersOf(isMeant)) return holder
  return undefined
}

export const holderOrNobody = (holder: Holder | undefined): string =>
  holder ? holderText(holder) : 'another process'

/** The error for a port that is taken; `options` are those that name another one. */
export function addressInUse(
  host: string,
  port: number,
  holder: Holder | undefined,
  options = "'publish_port' or 'ret_port'",
): SaltError {
  return new SaltError(
    'ADDRESS_IN_USE',
    `Cannot listen on ${host}:${port}: ${holderOrNobody(holder)} already does. Stop it, or set ${options} to another port.`,
    { host, port, ...holder },
  )
}

/** Inodes of sockets in state LISTEN (0A) on the port, from the kernel's tables. */
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
