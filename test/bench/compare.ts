/**
 * `npm run bench:compare -- BASE [--minions 500] [--jobs 10] [--rounds 5]`: two commits, the present tree and BASE, in turns on the
 * same machine. BASE is checked out and built in a temporary folder.
 */
import { execFileSync } from 'node:child_process'
import { rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { temporaryFolder } from '../harness/folder.ts'
import type { Fleet } from './fleet.ts'
import { startOurs } from './masters.ts'
import {
  add,
  type Measured,
  measureFile,
  measureMemory,
  measurePing,
  measureReturns,
  measureSignIns,
  timeProgram,
} from './measure.ts'
import { medianTable } from './report.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minions: { type: 'string', default: '500' },
    jobs: { type: 'string', default: '10' },
    bytes: { type: 'string', default: '350' },
    rounds: { type: 'string', default: '5' },
    commands: { type: 'string', default: '9' },
    files: { type: 'string', default: '3' },
  },
})
const [base] = positionals
if (base === undefined) throw new Error('Name the commit to compare with: npm run bench:compare -- HEAD~1')
const [minions, rounds] = [Number(values.minions), Number(values.rounds)]
const load = { jobs: Number(values.jobs), bytes: Number(values.bytes), atOnce: 100 }
const PROCESSES = 2
const FILE_MEGABYTES = 200
/** Time for a master to give back what it does not need. */
const REST_MS = 20_000

/** Check out and build a commit. Return the folder. */
async function checkOut(commit: string): Promise<string> {
  const folder = join(await temporaryFolder('salt-base-'), 'base')
  execFileSync('git', ['worktree', 'add', '--detach', folder, commit], { cwd: root, stdio: 'ignore' })
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: folder, stdio: 'inherit' })
  return folder
}

async function compare(folder: string): Promise<string> {
  const measured: Measured[] = []
  const options = { file_roots: { base: [join(folder, '..', 'files')] } }
  const fleets: Fleet[] = []
  try {
    measured.push({ master: await startOurs(options, { name: 'present' }), figures: new Map() })
    const older = { name: String(base), programs: join(folder, 'bin/') }
    measured.push({ master: await startOurs(options, older), figures: new Map() })
    for (const one of measured) measureMemory(one, 'memory fresh')
    for (const one of measured) fleets.push(await measureSignIns(one, minions, PROCESSES))
    for (let round = 0; round < rounds; round++)
      for (const [place, one] of measured.entries()) {
        await measureReturns(one, fleets[place] as Fleet, load)
        await measurePing(one, minions)
      }
    for (const one of measured) measureMemory(one, 'memory')
    await delay(REST_MS)
    for (const one of measured) measureMemory(one, 'memory at rest')
    for (let round = 0; round < Number(values.files); round++)
      for (const one of measured) await measureFile(one, FILE_MEGABYTES)
    for (let round = 0; round < Number(values.commands); round++)
      for (const one of measured)
        add(one, 'salt test.ping', timeProgram([...one.master.salt, one.master.minion, 'test.ping']))
  } finally {
    for (const fleet of fleets) fleet.close()
    for (const { master } of measured) await master.close()
  }
  return `${medianTable(measured).join('\n')}\n`
}

const folder = await checkOut(base)
try {
  process.stdout.write(await compare(folder))
} finally {
  execFileSync('git', ['worktree', 'remove', '--force', folder], { cwd: root })
  await rm(join(folder, '..'), { recursive: true, force: true })
}
