/**
 * `npm run bench -- [--minions 1000] [--jobs 20] [--rounds 3] [--beside FILE] [--write]`
 *
 * Measures the compiled product: a master under simulated minions, and the command line. With `--beside` the same load
 * runs against a second master in the same run, see `readBeside`.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Fleet } from './fleet.ts'
import { type MeasuredMaster, readBeside, startOurs } from './masters.ts'
import {
  add,
  type Measured,
  measureMemory,
  measurePing,
  measureReturns,
  measureSignIns,
  timeProgram,
} from './measure.ts'
import { withFigures } from './readme-figures.ts'
import { report } from './report.ts'

const { values: options } = parseArgs({
  options: {
    minions: { type: 'string', default: '1000' },
    processes: { type: 'string', default: '2' },
    jobs: { type: 'string', default: '20' },
    bytes: { type: 'string', default: '350' },
    'at-once': { type: 'string', default: '200' },
    rounds: { type: 'string', default: '3' },
    commands: { type: 'string', default: '15' },
    beside: { type: 'string' },
    master: { type: 'string', default: '{}' },
    write: { type: 'boolean', default: false },
  },
})
const minions = Number(options.minions)
const rounds = Number(options.rounds)
const load = { jobs: Number(options.jobs), bytes: Number(options.bytes), atOnce: Number(options['at-once']) }

/** Time for a master to give back what it does not need. */
const REST_MS = 20_000

async function run(): Promise<void> {
  const masters: MeasuredMaster[] = [await startOurs(JSON.parse(options.master))]
  if (options.beside) masters.push(await readBeside(options.beside))
  const measured = masters.map((master): Measured => ({ master, figures: new Map() }))
  const fleets: Fleet[] = []
  try {
    for (const one of measured) measureMemory(one, 'memory fresh')
    measureCommands(measured)
    for (const one of measured) fleets.push(await signIn(one))
    await inRounds(measured, async (one, place) => measureReturns(one, fleets[place]!, load))
    await inRounds(measured, async (one) => measurePing(one, minions))
    for (const one of measured) measureMemory(one, 'memory')
    await delay(REST_MS)
    for (const one of measured) measureMemory(one, 'memory at rest')
  } finally {
    for (const fleet of fleets) fleet.close()
    for (const master of masters) await master.close()
    if (process.env.DEBUG) for (const { log } of masters) console.error(log?.())
  }
  const text = report(measured, { minions, ...load, rounds })
  process.stdout.write(text)
  if (options.write) await write(text)
}

/** Write the report, and the figures of the project's README that stand in it. */
async function write(text: string): Promise<void> {
  await writeFile(new URL('README.md', import.meta.url), text)
  const readme = new URL('../../README.md', import.meta.url)
  await writeFile(readme, withFigures(await readFile(readme, 'utf8'), text))
}

function measureCommands(measured: readonly Measured[]): void {
  for (let round = 0; round < Number(options.commands); round++) {
    for (const one of measured) {
      const { salt, minion } = one.master
      add(one, 'salt test.ping', timeProgram([...salt, minion, 'test.ping']))
      add(one, 'salt test.pign', timeProgram([...salt, minion, 'test.pign'], { fails: true }))
      add(one, 'salt --version', timeProgram([...salt, '--version']))
      add(one, 'node', timeProgram([process.execPath, '-e', '0']))
    }
  }
}

async function signIn(one: Measured): Promise<Fleet> {
  const fleet = await measureSignIns(one, minions, Number(options.processes))
  measureMemory(one, 'memory signed in')
  return fleet
}

async function inRounds(
  measured: readonly Measured[],
  measure: (one: Measured, place: number) => Promise<void>,
): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    for (const [place, one] of measured.entries()) await measure(one, place)
  }
}

await run()
