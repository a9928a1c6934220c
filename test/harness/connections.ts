/** TCP connections of a process, as the kernel tells of them. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

interface Connection {
  readonly remotePort: number
  /** Seconds until the system probes it, if it is idle for so long; undefined if it never does. */
  readonly probedIn: number | undefined
}

const ESTABLISHED = '01'
const KEEPALIVE = '02'
const TICKS_A_SECOND = 100

export function connectionsOf(pid: number): Connection[] {
  const own = new Set(readdirSync(`/proc/${pid}/fd`).map((fd) => socketOf(`/proc/${pid}/fd/${fd}`)))
  const rows = readFileSync(`/proc/${pid}/net/tcp`, 'utf8').split('\n').slice(1)
  return rows
    .map((row) => row.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode]) => state === ESTABLISHED && own.has(inode))
    .map(([, , remote = '', , , timer = '']) => {
      const [kind, ticks = '0'] = timer.split(':')
      return {
        remotePort: Number.parseInt(remote.split(':')[1] ?? '', 16),
        probedIn: kind === KEEPALIVE ? Number.parseInt(ticks, 16) / TICKS_A_SECOND : undefined,
      }
    })
}

/** The number of the socket behind a file descriptor. */
function socketOf(path: string): string | undefined {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(path))?.[1]
  } catch {
    return undefined // closed meanwhile
  }
}
