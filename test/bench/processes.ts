/** What the kernel says about processes. */
import { readdirSync, readFileSync } from 'node:fs'

export interface Usage {
  readonly processes: number
  /** Memory that nobody else has (USS): what would be free without these processes. Bytes. */
  readonly privateBytes: number
  /** Processor time used so far. Seconds. */
  readonly cpuSeconds: number
}

/** Of a process and all below it. */
export function usageOf(pid: number): Usage {
  const pids = tree(pid)
  const sum = (each: (pid: number) => number) => pids.reduce((total, one) => total + each(one), 0)
  return { processes: pids.length, privateBytes: sum(privateBytes), cpuSeconds: sum(cpuSeconds) }
}

export interface ProcessUsage {
  /** As `ps` shows it. */
  readonly name: string
  /** Memory it has in RAM (RSS), and the most it ever had. Bytes. */
  readonly residentBytes: number
  readonly peakBytes: number
  readonly cpuSeconds: number
}

/** Of a process and each of those below it. */
export const usagesOf = (pid: number): ProcessUsage[] =>
  tree(pid).map((one) => ({
    name: nameOf(one),
    residentBytes: statusOf(one, 'VmRSS'),
    peakBytes: statusOf(one, 'VmHWM'),
    cpuSeconds: cpuSeconds(one),
  }))

const nameOf = (pid: number): string => readOrEmpty(`/proc/${pid}/cmdline`).split('\0').join(' ').trim()

function statusOf(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const [, kilobytes] =
    new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(readOrEmpty(`/proc/${pid}/status`)) ?? []
  return Number(kilobytes ?? 0) * 1024
}

function tree(root: number): number[] {
  const children = new Map<number, number[]>()
  for (const name of readdirSync('/proc')) {
    const parent = /^\d+$/.test(name) ? Number(statOf(name)[1]) : undefined
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(name)])
  }
  const below = (pid: number): number[] => [pid, ...(children.get(pid) ?? []).flatMap(below)]
  return below(root)
}

function privateBytes(pid: number): number {
  const lines = readOrEmpty(`/proc/${pid}/smaps_rollup`).matchAll(/^Private_(?:Clean|Dirty): +(\d+) kB/gm)
  return [...lines].reduce((total, [, kilobytes]) => total + Number(kilobytes) * 1024, 0)
}

const TICKS_PER_SECOND = 100

export function cpuSeconds(pid: number): number {
  const fields = statOf(String(pid))
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / TICKS_PER_SECOND
}

/** The fields of /proc/<pid>/stat from the state on, that is from the third: the name before it may hold anything. */
function statOf(pid: string): string[] {
  const text = readOrEmpty(`/proc/${pid}/stat`)
  return text.slice(text.lastIndexOf(')') + 2).split(' ')
}

/** A process may be gone by now. */
function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
