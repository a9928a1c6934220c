/**
 * Compare calls of functions with those of Python Salt on this host: value, type, return code, and the files that are left.
 * `npm run compare -- [--write] [--show AGREEMENT] [LIST...]`, as root, with the folder of Salt's sources in the environment
 * variable PYTHON_SALT, and its Python in PYTHON (default: /usr/bin/python3). See README.md.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { filesBelow } from '../harness/files.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { type Agreement, type Answer, agreementOf, comparedFields, textOf } from './answer.ts'
import { type Call, groupsOf } from './calls.ts'
import { openOwn, openPython, type Peer } from './peers.ts'
import { type Compared, reportOf } from './report.ts'
import { startServers } from './servers.ts'

const here = import.meta.dirname
const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    write: { type: 'boolean' },
    show: { type: 'string', multiple: true, default: ['differs', 'other words'] },
  },
})
const sources = process.env.PYTHON_SALT
if (sources === undefined) throw new Error('Name the folder of the sources of Python Salt in PYTHON_SALT.')

/** What a first call may take longer, since modules are loaded with it. */
const SLOWER_MS = 150

/** Files whose bytes depend on times, inodes or the version of a library: the index of git, databases of SQLite, zip files. */
const UNSTABLE = /(\/\.git\/(?:worktrees\/[^/]+\/)?index|\.db|\.zip) \S+/

/** Commits of both sides have the same author and time, and so the same digest. */
for (const role of ['AUTHOR', 'COMMITTER'])
  Object.assign(process.env, {
    [`GIT_${role}_NAME`]: 'Author',
    [`GIT_${role}_EMAIL`]: 'author@example.com',
    [`GIT_${role}_DATE`]: '1700000000 +0000',
  })

const base = await temporaryFolder()
const folder = join(base, 'files')
const configOf = (name: string) => {
  const directory = join(base, name)
  mkdirSync(directory)
  const settings = {
    ...JSON.parse(readFileSync(join(here, 'minion.json'), 'utf8')),
    id: 'node',
    root_dir: join(base, `root-${name}`),
    file_client: 'local',
    master_type: 'disable',
  }
  writeFileSync(
    join(directory, 'minion'),
    JSON.stringify({ ...settings, file_roots: { base: [join(here, 'fixture')] }, grains: { role: 'web' } }),
  )
  return directory
}
const servers = await startServers(base)
const own = openOwn(configOf('own'))
const python = openPython(configOf('python'), sources, process.env.PYTHON ?? '/usr/bin/python3')
try {
  const lists =
    positionals.length > 0
      ? positionals
      : readdirSync(join(here, 'calls')).map((name) => join(here, 'calls', name))
  const compared: Compared[] = []
  for (const list of lists)
    for (const group of groupsOf(readFileSync(list, 'utf8'), { dir: folder, ...servers.places }))
      compared.push(...(await compare(basename(list, '.txt'), group)))
  const report = reportOf(compared)
  if (flags.write) writeFileSync(join(here, 'report.md'), report)
  process.stdout.write(report)
} finally {
  await python.close()
  await servers.close()
  await removeFolder(base)
}

async function compare(list: string, group: readonly Call[]): Promise<Compared[]> {
  const theirs = await answersOf(python, group)
  const answers = await answersOf(own, group)
  return group.map((call, at) => {
    const [ours, its] = [answers[at] as Answer, theirs[at] as Answer]
    const agreement = agreementOf(ours, its, call.depth)
    if (flags.show.includes(agreement) && !call.isMeant) show(call, agreement, ours, its)
    if (flags.show.includes('slower') && ours.ms > 2 * its.ms + SLOWER_MS) showTimes(call, ours, its)
    return { list, call, agreement, fields: comparedFields(ours, its, call.depth) }
  })
}

/** Run the calls of a group in a fresh folder. */
async function answersOf(peer: Peer, group: readonly Call[]): Promise<Answer[]> {
  rmSync(folder, { recursive: true, force: true })
  cpSync(join(here, 'fixture'), folder, { recursive: true, preserveTimestamps: true })
  const answers: Answer[] = []
  let before = comparableFiles()
  for (const { words } of group) {
    const began = performance.now()
    const returned = await peer.run(words)
    const ms = performance.now() - began
    const after = comparableFiles()
    answers.push({ ...returned, files: changesOf(before, after), ms })
    before = after
  }
  return answers
}

/** List the files in the folder of the group; of unstable ones without the digest. */
function comparableFiles(): string[] {
  return filesBelow(folder).map((file) => file.replace(UNSTABLE, '$1'))
}

/** Return what is new, and with `-` what is gone, so that a difference counts for the call that made it. */
function changesOf(before: readonly string[], after: readonly string[]): string[] {
  const gone = before.filter((file) => !after.includes(file))
  return [...after.filter((file) => !before.includes(file)), ...gone.map((file) => `- ${file}`)]
}

function showTimes({ line }: Call, ours: Answer, its: Answer): void {
  process.stdout.write(
    `slower: ${line}\n  Salt: ${Math.round(its.ms)} ms, salt-ts: ${Math.round(ours.ms)} ms\n`,
  )
}

function show({ line }: Call, agreement: Agreement, ours: Answer, its: Answer): void {
  const said = ({ retcode, value }: Answer) => `${retcode} ${textOf(value).slice(0, 600)}`
  const left = its.files.filter((file) => !ours.files.includes(file))
  const added = ours.files.filter((file) => !its.files.includes(file))
  const files = left.length + added.length > 0 ? `\n  Salt left ${left}\n  salt-ts left ${added}` : ''
  process.stdout.write(`${agreement}: ${line}\n  Salt:    ${said(its)}\n  salt-ts: ${said(ours)}${files}\n`)
}
