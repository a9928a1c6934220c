import { readdir, readFile, readlink } from 'node:fs/promises'
import { SaltError } from '../base/errors.ts'

/** The process that listens on a port: what one needs to know to stop it. */
export interface PortHolder {
  readonly pid: number
  /** Program and first argument; further ones may hold secrets. */
  readonly command: string
}

/** Who listens on this TCP port of this machine; undefined if that cannot be found out (other systems, no rights). */
export async function findPortHolder(port: number): Promise<PortHolder | undefined> {
  const inodes = await listeningInodes(port)
  if (inodes.size === 0) return undefined
  for (const pid of await processIds()) {
    if (await holdsOneOf(pid, inodes)) return { pid, command: await commandOf(pid) }
  }
  return undefined
}

/** The error for a port that is taken. */
export function addressInUse(host: string, port: number, holder: PortHolder | undefined): SaltError {
  const by = holder ? `process ${holder.pid} (${holder.command})` : 'another process'
  return new SaltError(
    'ADDRESS_IN_USE',
    `Cannot listen on ${host}:${port}: ${by} already does. Stop it, or configure another port.`,
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

async function processIds(): Promise<number[]> {
  const names = await readdir('/proc').catch(() => [])
  return names.map(Number).filter(Number.isInteger)
}

async function holdsOneOf(pid: number, inodes: ReadonlySet<string>): Promise<boolean> {
  const directory = `/proc/${pid}/fd`
  const descriptors = await readdir(directory).catch(() => [])
  for (const descriptor of descriptors) {
    const link = await readlink(`${directory}/${descriptor}`).catch(() => '')
    if (link.startsWith('socket:[') && inodes.has(link.slice(8, -1))) return true
  }
  return false
}

async function commandOf(pid: number): Promise<string> {
  const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  return line.split('\0').slice(0, 2).join(' ').trim() || 'unknown command'
}
