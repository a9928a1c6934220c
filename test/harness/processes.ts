/** Processes of this machine, as /proc tells of them. */
import { readdirSync, readFileSync } from 'node:fs'

export interface ProcessInfo {
  readonly pid: number
  readonly parent: number
  /** As in /proc: `Z` is dead and not yet waited for, `T` is stopped. */
  readonly state: string
  readonly command: string
}

function processes(): ProcessInfo[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => read(Number(name)) ?? [])
}

/** A process and all it started, as far as they are still its children; parents first. */
export function treeOf(root: number): ProcessInfo[] {
  const all = processes()
  const found = all.filter(({ pid }) => pid === root)
  for (const each of found) found.push(...all.filter(({ parent }) => parent === each.pid))
  return found
}

/** Every living process with `name=value` in the environment it was started with. */
export function withEnvironment(name: string, value: string): ProcessInfo[] {
  return processes().filter(
    ({ pid, state }) => state !== 'Z' && environment(pid).includes(`${name}=${value}`),
  )
}

export function isAlive(pid: number): boolean {
  const found = read(pid)
  return found !== undefined && found.state !== 'Z'
}

/** Signal processes, one right after the other; those that are gone already are left out. */
export function signalAll(pids: Iterable<number>, signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal)
    } catch {
      // It is gone already.
    }
  }
}

function read(pid: number): ProcessInfo | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const [state = '', parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
    return { pid, parent: Number(parent), state, command }
  } catch {
    return undefined
  }
}

function environment(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
  } catch {
    return []
  }
}
