/** What was measured, as a Markdown table. */
import { cpus } from 'node:os'
import type { Measured } from './measure.ts'
import { median } from './median.ts'
import { table } from './table.ts'

interface Row {
  readonly figure: string
  readonly says: string
  readonly digits?: number
  /** What ours divided by the other's should be. */
  readonly aim?: string
}

const rows: readonly Row[] = [
  { figure: 'returns', says: 'durable returns per second', aim: '≥ 4' },
  { figure: 'return cpu', says: 'processor time of the master per return, µs' },
  { figure: 'ping', says: '`test.ping` to all, ms', aim: '≤ 0.33' },
  { figure: 'ping cpu', says: 'processor time of the master for it, µs per minion' },
  { figure: 'sign-in', says: 'sign-in of all, ms' },
  { figure: 'sign-in cpu', says: 'processor time of the master per sign-in, µs' },
  { figure: 'memory fresh', says: 'private memory of the master, just started, MB', digits: 1 },
  { figure: 'memory signed in', says: 'private memory, all signed in, MB', digits: 1 },
  { figure: 'memory', says: 'private memory right after all of this, MB', digits: 1 },
  { figure: 'memory at rest', says: 'private memory 20 s later, MB', digits: 1, aim: '≤ 0.33' },
  { figure: 'file', says: '`cp.get_file` of 200 MB, ms' },
  { figure: 'processes', says: 'processes of the master' },
  { figure: 'salt test.ping', says: 'whole process `salt node test.ping`, ms', aim: '≤ 0.25' },
  {
    figure: 'salt test.pign',
    says: 'whole process `salt node test.pign`, which does not exist, ms',
    aim: '≤ 0.25',
  },
  { figure: 'salt --version', says: 'whole process `salt --version`, ms' },
  { figure: 'node', says: 'whole process `node -e 0`, ms' },
]

/** Shape of the load, as it is said above the table. */
export interface Load {
  readonly minions: number
  readonly jobs: number
  readonly bytes: number
  readonly atOnce: number
  readonly rounds: number
}

/** Medians of what was measured, as lines of a table; the ratio is the first divided by the second. */
export function medianTable(measured: readonly Measured[], { aims = false } = {}): string[] {
  const names = measured.map(({ master }) => master.name)
  const isCompared = names.length > 1
  const present = rows.filter(({ figure }) => measured.some(({ figures }) => figures.has(figure)))
  const lines = present.map(({ figure, says, digits = 0, aim = '' }) => {
    const medians = measured.map(({ figures }) => median(figures.get(figure) ?? []))
    const [ours = Number.NaN, theirs = Number.NaN] = medians
    const ratio = isCompared && figure !== 'node' ? (ours / theirs).toFixed(2) : ''
    return [says, ...medians.map((value) => value.toFixed(digits)), ...ifWanted(isCompared, ratio, aims, aim)]
  })
  return table([['', ...names, ...ifWanted(isCompared, 'ratio', aims, 'aim')], ...lines])
}

const ifWanted = (isCompared: boolean, ratio: string, aims: boolean, aim: string): string[] =>
  isCompared ? [ratio, ...(aims ? [aim] : [])] : []

export function report(
  measured: readonly Measured[],
  { minions, jobs, bytes, atOnce, rounds }: Load,
): string {
  return [
    '# Speed and memory',
    '',
    'Written by `npm run bench -- --write`; the figures are medians of one run. What counts is the ratio: both masters met',
    'the same machine, the same minions and the same load, in turns.',
    '',
    `${minions} simulated minions with keys, sessions and connections of their own; ${jobs} jobs of which each minion returns`,
    `${bytes} bytes, ${atOnce} returns at once, every acknowledgement verified; ${rounds} rounds; ${cpus().length} cores.`,
    '',
    ...medianTable(measured, { aims: true }),
    '',
    'To compare with another master, start it with one accepted minion and describe it in a JSON file for',
    '`--beside`, with the fields of `MeasuredMaster` in `masters.ts`: `name`, `configDir`, `pid`, `salt` (words of its',
    'command), `minion`. It must answer generation 3 of the protocol and accept keys that are put into its `pki_dir`.',
    '',
  ].join('\n')
}
