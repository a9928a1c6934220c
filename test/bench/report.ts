/** What was measured, as a Markdown table, and which aims it misses. */
import { cpus } from 'node:os'
import type { Measured } from './measure.ts'
import { median } from './median.ts'
import type { Load } from './rounds.ts'
import { table } from './table.ts'

/** Medians of one figure. */
interface Medians {
  readonly ours: number
  /** Of the other master; undefined if none was measured. */
  readonly theirs: number | undefined
  /** Of `node -e 0`. */
  readonly node: number
}

interface Aim {
  readonly says: string
  isMet(medians: Medians): boolean
}

interface Row {
  readonly figure: string
  readonly says: string
  readonly digits?: number
  readonly aims?: readonly Aim[]
}

const atMost = (most: number): Aim => ({ says: `≤ ${most}`, isMet: ({ ours }) => ours <= most })
/** For what is better if it is small. Without another master there is nothing to compare with. */
const timesLess = (times: number): Aim => ({
  says: `≤ 1/${times}`,
  isMet: ({ ours, theirs }) => theirs === undefined || ours <= theirs / times,
})
const timesMore = (times: number): Aim => ({
  says: `≥ ${times} times`,
  isMet: ({ ours, theirs }) => theirs === undefined || ours >= theirs * times,
})
const overNode = (ms: number): Aim => ({
  says: `≤ Node + ${ms}`,
  isMet: ({ ours, node }) => ours <= node + ms,
})

const COMMAND = [overNode(35), timesLess(7)]

const rows: readonly Row[] = [
  { figure: 'returns', says: 'durable returns per second', aims: [timesMore(4)] },
  {
    figure: 'return cpu',
    says: 'processor time of the master per return, µs',
    aims: [atMost(150), timesLess(12)],
  },
  { figure: 'ping', says: '`test.ping` to all, ms', aims: [timesLess(8)] },
  { figure: 'ping cpu', says: 'processor time of the master for it, µs per minion', aims: [atMost(200)] },
  { figure: 'sign-in, new keys', says: 'sign-in of all with new keys, ms' },
  {
    figure: 'sign-in cpu, new keys',
    says: 'processor time of the master per sign-in with a new key, µs',
    aims: [timesLess(2.5)],
  },
  { figure: 'sign-in, known keys', says: 'sign-in of all with known keys, ms' },
  {
    figure: 'sign-in cpu, known keys',
    says: 'processor time of the master per sign-in with a known key, µs',
    aims: [timesLess(4)],
  },
  { figure: 'memory fresh', says: 'private memory of the master, just started, MB', digits: 1 },
  { figure: 'memory signed in', says: 'private memory, all signed in, MB', digits: 1 },
  { figure: 'memory', says: 'private memory right after returns and jobs, MB', digits: 1 },
  {
    figure: 'memory at rest',
    says: 'private memory 20 s later, MB',
    digits: 1,
    aims: [atMost(140), timesLess(3)],
  },
  { figure: 'returns of 64 kB', says: 'durable returns of 64 kB per second' },
  {
    figure: 'return cpu of 64 kB',
    says: 'processor time of the master per return of 64 kB, µs',
    aims: [timesLess(12)],
  },
  { figure: 'memory after 64 kB', says: 'private memory 20 s after these, MB', digits: 1 },
  { figure: 'processes', says: 'processes of the master' },
  { figure: 'file', says: '`cp.get_file` of a large file, ms', aims: [timesLess(2)] },
  {
    figure: 'file memory of the master',
    says: 'memory it adds to the master, MB',
    digits: 1,
    aims: [atMost(60)],
  },
  {
    figure: 'file memory of the minion',
    says: 'memory it adds to the minion, MB',
    digits: 1,
    aims: [atMost(60)],
  },
  { figure: 'small files', says: '`cp.get_dir` of 700 small files, ms', aims: [timesLess(3)] },
  { figure: 'salt node test.ping', says: 'whole process `salt node test.ping`, ms', aims: COMMAND },
  { figure: 'salt-key -L', says: 'whole process `salt-key -L`, ms', aims: COMMAND },
  { figure: 'salt-run jobs.active', says: 'whole process `salt-run jobs.active`, ms', aims: COMMAND },
  {
    figure: 'salt-call --local test.ping',
    says: 'whole process `salt-call --local test.ping`, ms',
    aims: COMMAND,
  },
  { figure: 'salt node test.pign', says: 'whole process `salt node test.pign`, which does not exist, ms' },
  { figure: 'salt --version', says: 'whole process `salt --version`, ms' },
  { figure: 'node', says: 'whole process `node -e 0`, ms' },
]

function mediansOf(figure: string, [ours, theirs]: readonly Measured[]): Medians {
  const of = (one: Measured | undefined, name: string) => median(one?.figures.get(name) ?? [])
  return {
    ours: of(ours, figure),
    theirs: theirs && of(theirs, figure),
    node: of(ours, 'node'),
  }
}

const isMeasured = (measured: readonly Measured[], { figure }: Row) =>
  measured.some(({ figures }) => figures.has(figure))

/**
 * Medians of what was measured, as lines of a table, with half of the range in percent of the median; the ratio is the first divided
 * by the second.
 */
export function medianTable(measured: readonly Measured[], { aims = false } = {}): string[] {
  const isCompared = measured.length > 1
  const lines = rows
    .filter((row) => isMeasured(measured, row))
    .map((row) => {
      const { figure, says, digits = 0 } = row
      const { ours, theirs = Number.NaN } = mediansOf(figure, measured)
      const cells = measured.map(({ figures }) => shown(figures.get(figure) ?? [], digits))
      const ratio = isCompared ? [figure === 'node' ? '' : (ours / theirs).toFixed(2)] : []
      return [says, ...cells, ...ratio, ...(aims ? [(row.aims ?? []).map((aim) => aim.says).join(', ')] : [])]
    })
  const names = measured.map(({ master }) => master.name)
  return table([['', ...names, ...(isCompared ? ['ratio'] : []), ...(aims ? ['aim'] : [])], ...lines])
}

function shown(values: readonly number[], digits: number): string {
  const middle = median(values)
  const spread = (Math.max(...values) - Math.min(...values)) / 2 / middle
  return `${middle.toFixed(digits)}${values.length > 1 ? ` ±${(100 * spread).toFixed(0)}%` : ''}`
}

/** Sentences about the aims that are missed. */
export function missedAims(measured: readonly Measured[]): string[] {
  return rows
    .filter((row) => isMeasured(measured, row))
    .flatMap(({ figure, says, aims = [] }) => {
      const medians = mediansOf(figure, measured)
      const { ours, theirs } = medians
      const than = theirs === undefined ? '' : `, beside ${theirs.toFixed(0)}`
      return aims
        .filter((aim) => !aim.isMet(medians))
        .map((aim) => `Missed: ${says}: ${ours.toFixed(0)}${than}; the aim is ${aim.says}.`)
    })
}

export function report(measured: readonly Measured[], load: Load): string {
  const { minions, jobs, bytes, atOnce, rounds, megabytes } = load
  return [
    '# Speed and memory',
    '',
    'Written by `npm run bench -- --write`; the figures are medians of one run, with half of their range. What counts is the',
    'ratio: both masters met the same machine, the same minions and the same load, in turns. The aims are of the ratio to Python',
    'Salt (≤ 1/12, ≥ 4 times), or of the figure itself.',
    '',
    `${minions} simulated minions with keys, sessions and connections of their own; ${jobs} jobs of which each minion returns`,
    `${bytes} bytes, ${atOnce} returns at once, every acknowledgement verified; ${rounds} rounds; ${cpus().length} cores.`,
    'Each minion signs in, and reports its start as minions of either kind do.',
    '',
    `A real minion fetches a file of ${megabytes} MB; its memory and that of the master are what they have more than before, at most.`,
    '',
    ...medianTable(measured, { aims: true }),
    '',
    'To compare with another master, start it with one accepted minion and describe it in a JSON file for',
    '`--beside`, with the fields of `MeasuredMaster` in `masters.ts`: `name`, `configDir`, `pid`, `programs` (the words of its',
    'commands, each with its `-c`), `minion`, `minionPid`. It must answer generation 3 of the protocol, accept new keys by itself, and',
    'serve `file_roots`.',
    '',
  ].join('\n')
}
