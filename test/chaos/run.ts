/**
 * `npm run chaos -- [--list] [--scenario NAME]… [--seed N] [--minutes M] [--logs DIRECTORY] [--write]`
 *
 * Lets things go wrong in a fleet of real processes, and judges what became of its jobs (see oracle.ts). Without `--seed` the
 * seeds are 1 to 5; with `--minutes` it goes on with further seeds for so long. `--logs`: where the logs of the daemons
 * are put if an invariant is broken. `--write`: put the figures into docs/reliability.md.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { figures, lines, withFigures } from './report.ts'
import { scenarios } from './scenarios/index.ts'
import { brokenLines, type Trial, Trials } from './trial.ts'

const { values: options } = parseArgs({
  options: {
    list: { type: 'boolean', default: false },
    scenario: { type: 'string', multiple: true },
    seed: { type: 'string' },
    minutes: { type: 'string' },
    logs: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
})

const SEEDS = 5

async function run(): Promise<void> {
  const chosen = scenarios.filter(({ name }) => options.scenario?.includes(name) ?? true)
  const unknown = options.scenario?.filter((name) => !chosen.some((each) => each.name === name)) ?? []
  if (unknown.length > 0) throw new Error(`There is no scenario ${unknown.join(', ')}: --list shows all.`)
  if (options.list) return console.log(chosen.map(({ name, says }) => `${name}: ${says}`).join('\n'))
  const folder = await temporaryFolder('chaos-')
  process.env.TMPDIR = folder
  const trials = new Trials(keepLogs)
  const made: Trial[] = []
  try {
    for (const seed of seeds()) {
      for (const scenario of chosen) {
        const trial = await trials.make(scenario, seed)
        made.push(trial)
        console.error(`${scenario.name}, seed ${seed}: ${trial.pairs} pairs, ${trial.seconds.toFixed(1)} s`)
        for (const line of brokenLines(trial)) console.error(`  ${line}`)
      }
      if (options.write) await write(made)
    }
  } finally {
    await trials.close()
    await removeFolder(folder)
  }
  console.log(lines(made).join('\n'))
  const broken = made.flatMap(brokenLines)
  for (const line of broken) console.error(line)
  process.exitCode = broken.length > 0 ? 1 : 0
}

function* seeds(): Generator<number> {
  const first = Number(options.seed ?? 1)
  const count = options.seed === undefined ? SEEDS : 1
  const end = performance.now() + Number(options.minutes ?? 0) * 60_000
  for (let seed = first; options.minutes ? performance.now() < end : seed < first + count; seed++) yield seed
}

function keepLogs({ scenario, seed }: Pick<Trial, 'scenario' | 'seed'>, logs: string): void {
  if (!options.logs) return
  mkdirSync(options.logs, { recursive: true })
  writeFileSync(join(options.logs, `${scenario}-${seed}`), logs)
}

async function write(trials: readonly Trial[]): Promise<void> {
  const page = new URL('../../docs/reliability.md', import.meta.url)
  await writeFile(page, withFigures(await readFile(page, 'utf8'), figures(trials, scenarios)))
}

await run()
