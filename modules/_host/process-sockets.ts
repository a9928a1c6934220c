import { readdir, readlink } from 'node:fs/promises'
import { textOf } from './files.ts'
import { endpoint } from './sockets.ts'

const STREAM = 1
const DATAGRAM = 2
const TABLES = [
  ['tcp', 2, STREAM],
  ['tcp6', 10, STREAM],
  ['udp', 2, DATAGRAM],
  ['udp6', 10, DATAGRAM],
] as const

/** States of TCP; the kernel numbers them from 1. */
const STATES = [
  ...['ESTABLISHED', 'SYN_SENT', 'SYN_RECV', 'FIN_WAIT1', 'FIN_WAIT2', 'TIME_WAIT'],
  ...['CLOSE', 'CLOSE_WAIT', 'LAST_ACK', 'LISTEN', 'CLOSING'],
]

type Address = [] | [ip: string, port: number]

/** Return descriptor, family, type, local and remote address, and state of the Internet sockets of a process. */
export async function socketsOf(pid: number): Promise<unknown[] | null> {
  const descriptors = await socketDescriptors(pid)
  if (!descriptors) return null
  const found: unknown[] = []
  for (const [name, family, type] of TABLES) {
    const lines = ((await textOf(`/proc/${pid}/net/${name}`)) ?? '').split('\n').slice(1)
    for (const line of lines) {
      const [, local = '', remote = '', state = '', , , , , , inode = ''] = line.trim().split(/\s+/)
      const fd = descriptors.get(inode)
      if (fd === undefined) continue
      const status = type === STREAM ? (STATES[Number.parseInt(state, 16) - 1] ?? 'NONE') : 'NONE'
      found.push([fd, family, type, addressOf(local), addressOf(remote), status])
    }
  }
  return found
}

/** Return the first descriptor of each socket of a process, by the inode of the socket. */
async function socketDescriptors(pid: number): Promise<Map<string, number> | undefined> {
  const targets = await descriptorsOf(pid)
  if (!targets) return undefined
  const found = new Map<string, number>()
  for (const [fd, target] of targets) {
    const [, inode] = /^socket:\[(\d+)\]$/.exec(target) ?? []
    if (inode !== undefined && !found.has(inode)) found.set(inode, fd)
  }
  return found
}

/** Return what the descriptors of a process lead to; undefined if that may not be read. */
export async function descriptorsOf(pid: number): Promise<Map<number, string> | undefined> {
  const names = await readdir(`/proc/${pid}/fd`).catch(() => undefined)
  if (!names) return undefined
  const found = new Map<number, string>()
  for (const name of names) {
    const target = await readlink(`/proc/${pid}/fd/${name}`).catch((error: NodeJS.ErrnoException) => error)
    if (typeof target === 'string') found.set(Number(name), target)
    else if (target.code !== 'ENOENT') return undefined
  }
  return found
}

function addressOf(text: string): Address {
  const { address, port } = endpoint(text)
  return port === 0 ? [] : [address, port]
}
