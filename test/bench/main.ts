/**
 * `npm run bench -- [--beside FILE] [--check] [--write] [--minions 1000] [--jobs 10] [--rounds 3] …` (see `rounds.ts`)
 *
 * Measures the compiled product: a master under simulated minions, files, and the command line. With `--beside` the same load
 * runs against a second master in the same run, see `readBeside`. With `--check` it fails if an aim is missed.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { type MeasuredMaster, readBeside, startOurs } from './masters.ts'
import type { Measured } from './measure.ts'
import { withFigures } from './readme-figures.ts'
import { missedAims, report } from './report.ts'
import { loadOptions, measureAll, readLoad } from './rounds.ts'

const { values: options } = parseArgs({
  options: {
    ...loadOptions,
    beside: { type: 'string' },
    master: { type: 'string', default: '{}' },
    check: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
})
const load = readLoad(options)

async function run(): Promise<void> {
  const folder = await temporaryFolder('salt-bench-')
  const workers = Math.min(Math.max(cpus().length, 2), 5) // the default; fewer in the harness of the tests
  const given = { file_roots: { base: [join(folder, 'files')] }, auto_accept: true, worker_threads: workers }
  const masters: MeasuredMaster[] = [await startOurs({ ...given, ...JSON.parse(options.master) })]
  if (options.beside) masters.push(await readBeside(options.beside))
  const measured = masters.map((master): Measured => ({ master, figures: new Map() }))
  try {
    await measureAll(measured, load)
  } finally {
    for (const master of masters) await master.close()
    await removeFolder(folder)
    if (process.env.DEBUG) for (const { log } of masters) console.error(log?.())
  }
  const text = report(measured, load)
  process.stdout.write(text)
  if (options.write) await write(text)
  if (!options.check) return
  const missed = missedAims(measured)
  for (const sentence of missed) console.error(sentence)
  if (missed.length > 0) process.exitCode = 1
}

/** Write the report, and the figures of the project's README that stand in it. */
async function write(text: string): Promise<void> {
  await writeFile(new URL('README.md', import.meta.url), text)
  const readme = new URL('../../README.md', import.meta.url)
  await writeFile(readme, withFigures(await readFile(readme, 'utf8'), text))
}

await run()
