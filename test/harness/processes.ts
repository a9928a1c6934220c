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

/** What a process uses. */
export interface Usage {
  readonly residentBytes: number
  /** The most that was resident so far. */
  readonly peakBytes: number
  /** Memory of its own, in RAM or swapped out. */
  readonly ownBytes: number
  readonly threads: number
  /** Open files. */
  readonly descriptors: number
}

/** All is zero of a process that is gone. */
export function usageOf(pid: number): Usage {
  const status = textOf(`/proc/${pid}/status`)
  const field = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0)
  return {
    residentBytes: field('VmRSS') * 1024,
    peakBytes: field('VmHWM') * 1024,
    ownBytes: (field('RssAnon') + field('VmSwap')) * 1024,
    threads: field('Threads'),
    descriptors: countIn(`/proc/${pid}/fd`),
  }
}

function countIn(folder: string): number {
  try {
    return readdirSync(folder).length
  } catch {
    return 0
  }
}

/** Empty if the process is gone. */
export function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
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
  return textOf(`/proc/${pid}/environ`).split('\0')
}
