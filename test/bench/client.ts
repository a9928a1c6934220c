/**
 * `npm run bench:client -- [--minions 2000] [--rounds 5] [--batch 100] [--write]`
 *
 * Time and memory of the compiled `salt '*' test.ping --out json` on a master of ours with many simulated minions. With
 * the environment variable PYTHON_SALT, the words of Python Salt's `salt` command, that one runs on the same master in turns.
 */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { startOurs } from './masters.ts'
import { openFleet } from './measure.ts'
import { median } from './median.ts'

const { values: options } = parseArgs({
  options: {
    minions: { type: 'string', default: '2000' },
    rounds: { type: 'string', default: '5' },
    batch: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
})
const minions = Number(options.minions)
const rounds = Number(options.rounds)
const batch = options.batch === undefined ? [] : ['-b', options.batch]
const command = ['salt', ...batch, "'*' test.ping --out json"].join(' ')
const python = process.env.PYTHON_SALT?.split(' ')

interface Run {
  /** From start to end. Milliseconds. */
  readonly wall: number
  /** Processor time of the command. Milliseconds. */
  readonly cpu: number
  /** The most memory it ever held. Megabytes. */
  readonly memory: number
  /** From its start to its first line of output. Milliseconds. */
  readonly first: number
}

const TICK_MS = 10
const POLL_MS = 20
/** Simulated minions share two processes, and one of them may be late. */
const ENOUGH = 0.99

async function run([program, ...words]: readonly string[], expected: number): Promise<Run> {
  const before = childrenCpu()
  const started = performance.now()
  const child = spawn(program as string, [
    ...words,
    '*',
    'test.ping',
    '--out',
    'json',
    '--out-indent',
    '-1',
    '-t',
    '60',
    ...batch,
  ])
  const timer = setInterval(() => {
    memory = Math.max(memory, peakOf(child.pid as number))
  }, POLL_MS)
  let memory = 0
  let first = Number.NaN
  let text = ''
  let errors = ''
  child.stdout.on('data', (chunk) => {
    if (text === '') first = performance.now() - started
    text += chunk
  })
  child.stderr.on('data', (chunk) => {
    errors += chunk
  })
  await new Promise((ended) => child.once('close', ended))
  clearInterval(timer)
  const wall = performance.now() - started
  const lines = text.split('\n').filter((line) => line.endsWith(': true}')).length
  if (lines < expected * ENOUGH)
    throw new Error(`${program} showed ${lines} of ${expected} returns. ${errors.slice(-2000)}`)
  return { wall, cpu: childrenCpu() - before, memory, first }
}

/** Of all children of this process that have ended: the commands, as the minions run until the end. */
function childrenCpu(): number {
  const text = readFileSync('/proc/self/stat', 'utf8')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[13]) + Number(fields[14])) * TICK_MS
}

function peakOf(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1000
  } catch {
    return 0
  }
}

const FIGURES: readonly [keyof Run, string, string][] = [
  ['wall', 'from start to end, ms', '≤ 0.10'],
  ['cpu', 'processor time, ms', '≤ 0.10'],
  ['first', 'to the first line, ms', ''],
  ['memory', 'most memory, MB', ''],
]

function report(ours: readonly Run[], theirs: readonly Run[]): string {
  const rows = FIGURES.map(([name, says, aim]) => {
    const [own, other] = [ours, theirs].map((runs) => median(runs.map((one) => one[name])))
    const compared = theirs.length > 0 ? [other?.toFixed(0), ((own ?? 0) / (other ?? 1)).toFixed(2), aim] : []
    return [says, own?.toFixed(0), ...compared]
  })
  const header = ['', 'salt-ts', ...(theirs.length > 0 ? ['Python Salt', 'ratio', 'aim'] : [])]
  const widths = header.map((_, n) => Math.max(...[header, ...rows].map((cells) => cells[n]?.length ?? 0)))
  const line = (cells: readonly (string | undefined)[]) =>
    `| ${cells.map((cell, n) => (cell ?? '').padEnd(widths[n] ?? 0)).join(' | ')} |`
  return [
    '# The command line',
    '',
    'Written by `npm run bench:client -- --write`; medians of one run, in which both commands met the same master in turns.',
    `\`${command}\`, ${minions} simulated minions, ${rounds} rounds, ${cpus().length} cores. All of the`,
    'time from start to end that is not processor time of the command is the master and the minions at work.',
    '',
    line(header),
    line(widths.map((width) => '-'.repeat(width))),
    ...rows.map(line),
    '',
  ].join('\n')
}

const master = await startOurs({})
const fleet = await openFleet(master, minions, 2)
try {
  const ours: Run[] = []
  const theirs: Run[] = []
  for (let round = 0; round < rounds; round++) {
    ours.push(await run(master.programs.salt, minions + 1))
    if (python) theirs.push(await run([...python, '-c', master.configDir], minions + 1))
  }
  const text = report(ours, theirs)
  process.stdout.write(text)
  if (options.write)
    await writeFile(new URL(batch.length > 0 ? 'client-batch.md' : 'client.md', import.meta.url), text)
} finally {
  fleet.close()
  await master.close()
}
