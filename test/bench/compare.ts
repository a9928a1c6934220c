/**
 * `npm run bench:compare -- BASE [--minions 1000] [--jobs 10] [--rounds 3] …` (see `rounds.ts`): two commits, the present tree and BASE, in turns on the
 * same machine. BASE is checked out and built in a temporary folder.
 */
import { execFileSync } from 'node:child_process'
import { rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { temporaryFolder } from '../harness/folder.ts'
import { startOurs } from './masters.ts'
import type { Measured } from './measure.ts'
import { medianTable } from './report.ts'
import { loadOptions, measureAll, readLoad } from './rounds.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

const { values, positionals } = parseArgs({ allowPositionals: true, options: loadOptions })
const [base] = positionals
if (base === undefined) throw new Error('Name the commit to compare with: npm run bench:compare -- HEAD~1')
const load = readLoad(values)

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
  const options = { file_roots: { base: [join(folder, '..', 'files')] }, auto_accept: true }
  try {
    for (const version of [{ name: 'present' }, { name: String(base), programs: join(folder, 'bin/') }])
      measured.push({ master: await startOurs(options, version), figures: new Map() })
    await measureAll(measured, load)
  } finally {
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
