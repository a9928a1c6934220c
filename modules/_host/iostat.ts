import { float, rounded } from './numbers.ts'

type Averages = Record<string, Record<string, unknown>>

interface Section {
  names: readonly string[]
  readonly rows: Map<string, number[][]>
}

/** Average the reports that `iostat -x` prints: under `sys` those of the processors, else by device. */
export function averageReports(output: string): Averages {
  const system: Section = { names: [], rows: new Map() }
  const devices: Section = { names: [], rows: new Map() }
  let current: Section | undefined
  for (const line of output.split('\n')) {
    const [first = '', ...rest] = line.trim().split(/\s+/)
    if (first === 'avg-cpu:') {
      system.names = rest
      current = system
    } else if (/^Device:?$/.test(first)) {
      devices.names = rest
      current = devices
    } else if (first === '') current = undefined
    else if (current === system) add(system, 'sys', [first, ...rest])
    else if (current) add(current, first, rest)
  }
  return { ...averages(system), ...averages(devices) }
}

function add({ rows }: Section, name: string, values: readonly string[]): void {
  const known = rows.get(name) ?? []
  rows.set(name, [...known, values.map(Number)])
}

function averages({ names, rows }: Section): Averages {
  return Object.fromEntries(
    [...rows].map(([name, reports]) => [
      name,
      Object.fromEntries(names.map((column, at) => [column, float(rounded(mean(reports, at), 2))])),
    ]),
  )
}

const mean = (reports: readonly number[][], at: number): number =>
  reports.reduce((sum, report) => sum + (report[at] ?? 0), 0) / reports.length
