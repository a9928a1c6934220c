/** What the kernel says about processes. */
import { textOf, treeOf, usageOf as usageOfOne } from '../harness/processes.ts'

export interface Usage {
  readonly processes: number
  /** Memory that nobody else has (USS): what would be free without these processes. Bytes. */
  readonly privateBytes: number
  /** Processor time used so far. Seconds. */
  readonly cpuSeconds: number
}

/** Of a process and all below it. */
export function usageOf(pid: number): Usage {
  const pids = treeOf(pid).map((one) => one.pid)
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
  treeOf(pid).map((one) => {
    const { residentBytes, peakBytes } = usageOfOne(one.pid)
    return { name: one.command, residentBytes, peakBytes, cpuSeconds: cpuSeconds(one.pid) }
  })

function privateBytes(pid: number): number {
  const lines = textOf(`/proc/${pid}/smaps_rollup`).matchAll(/^Private_(?:Clean|Dirty): +(\d+) kB/gm)
  return [...lines].reduce((total, [, kilobytes]) => total + Number(kilobytes) * 1024, 0)
}

const TICKS_PER_SECOND = 100

export function cpuSeconds(pid: number): number {
  const fields = statOf(String(pid))
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / TICKS_PER_SECOND
}

/** The fields of /proc/<pid>/stat from the state on, that is from the third: the name before it may hold anything. */
function statOf(pid: string): string[] {
  const text = textOf(`/proc/${pid}/stat`)
  return text.slice(text.lastIndexOf(')') + 2).split(' ')
}
