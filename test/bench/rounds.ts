/** All measurements of `npm run bench` and `npm run bench:compare`: the same load for each master, in turns. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Fleet } from './fleet.ts'
import {
  add,
  type Measured,
  measureFile,
  measureMemory,
  measurePing,
  measureReturns,
  measureSignIns,
  measureSmallFiles,
  removeNewKeys,
  timeProgram,
} from './measure.ts'

/** Shape of the load. */
export interface Load {
  readonly minions: number
  /** Processes of simulated minions. */
  readonly processes: number
  readonly jobs: number
  /** Size of what a minion returns. */
  readonly bytes: number
  readonly atOnce: number
  readonly rounds: number
  /** How many times each command runs. */
  readonly commands: number
  /** How many times files are fetched. */
  readonly files: number
  readonly megabytes: number
}

const option = (value: number) => ({ type: 'string', default: String(value) }) as const

/** The options of the command line, for `parseArgs`. */
export const loadOptions = {
  minions: option(1000),
  processes: option(2),
  jobs: option(10),
  bytes: option(350),
  'at-once': option(200),
  rounds: option(3),
  commands: option(15),
  files: option(3),
  megabytes: option(500),
} as const

export function readLoad(values: Readonly<Record<keyof typeof loadOptions, string>>): Load {
  const { 'at-once': atOnce, ...others } = values
  const numbers = Object.entries({ ...others, atOnce }).map(([name, value]) => [name, Number(value)])
  return Object.fromEntries(numbers) as Load
}

const LARGE_BYTES = 64_000
const LARGE_JOBS = 1
/** Time for a master to give back what it does not need. */
const REST_MS = 20_000

export async function measureAll(measured: readonly Measured[], load: Load): Promise<void> {
  const { minions, processes, rounds } = load
  const fleets: Fleet[] = []
  const inTurns = async (times: number, measure: (one: Measured, fleet: Fleet) => unknown) => {
    for (let round = 0; round < times; round++)
      for (const [place, one] of measured.entries()) await measure(one, fleets[place] as Fleet)
  }
  try {
    await inTurns(1, (one) => measureMemory(one, 'memory fresh'))
    await inTurns(load.commands, measureCommands)
    await inTurns(1, async (one) => {
      const fleet = await measureSignIns(one, { minions, processes, keys: 'new' })
      fleet.close()
      await removeNewKeys(one)
    })
    await inTurns(1, async (one) => {
      fleets.push(await measureSignIns(one, { minions, processes, keys: 'known' }))
      measureMemory(one, 'memory signed in')
    })
    await inTurns(rounds, (one, fleet) => measureReturns(one, fleet, load))
    await inTurns(rounds, (one) => measurePing(one, minions))
    await inTurns(1, (one) => measureMemory(one, 'memory'))
    await delay(REST_MS)
    await inTurns(1, (one) => measureMemory(one, 'memory at rest'))
    const large = { jobs: LARGE_JOBS, bytes: LARGE_BYTES, atOnce: load.atOnce }
    await inTurns(rounds, (one, fleet) => measureReturns(one, fleet, large, { name: ' of 64 kB' }))
    await delay(REST_MS)
    await inTurns(1, (one) => measureMemory(one, 'memory after 64 kB'))
    await inTurns(load.files, (one) => measureFile(one, load.megabytes))
    await inTurns(load.files, measureSmallFiles)
  } finally {
    for (const fleet of fleets) fleet.close()
  }
}

function measureCommands(one: Measured): void {
  const { programs, minion } = one.master
  const time = (name: keyof typeof programs, words: readonly string[], fails = false) => {
    const figure = [name, ...words.map((word) => (word === minion ? 'node' : word))].join(' ')
    add(one, figure, timeProgram([...programs[name], ...words], { fails }))
  }
  time('salt', [minion, 'test.ping'])
  time('salt', [minion, 'test.pign'], true)
  time('salt', ['--version'])
  time('salt-key', ['-L'])
  time('salt-run', ['jobs.active'])
  time('salt-call', ['--local', 'test.ping'])
  add(one, 'node', timeProgram([process.execPath, '-e', '0']))
}
