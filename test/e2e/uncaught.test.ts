/** A function with an uncaught error, that ends its process, or that waits without an end, has failed; nothing else ends with it. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Cluster } from '../harness/daemons.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'

const ends = `import { exit } from 'node:process'
import { setTimeout as delay } from 'node:timers/promises'
export const timer = () => { setTimeout(() => { throw new Error('late') }); return delay(60_000) }
export const rejection = () => { void Promise.reject(new Error('unseen')); return delay(60_000) }
export const leave = () => process.exit(3)
export const away = async () => { await delay(1); exit(0) }
`
const endlessly = 'export const wait = () => new Promise(() => {})'
let folder: string
let cluster: Cluster
beforeAll(async () => {
  folder = await temporaryFolder('salt-uncaught-')
  await mkdir(join(folder, 'modules'))
  await writeFile(join(folder, 'modules', 'ends.js'), ends)
  await mkdir(join(folder, 'runners'))
  for (const kind of ['modules', 'runners']) await writeFile(join(folder, kind, 'endless.js'), endlessly)
  cluster = await Cluster.open()
  await cluster.addMinion('pool', { module_dirs: [folder] })
  await cluster.addMinion('single', { module_dirs: [folder], multiprocessing: false })
})
afterAll(async () => {
  await cluster?.close()
  await removeFolder(folder)
})

const uncaught = 'The minion function caused an exception that nothing caught: Error: '
const failures: [fun: string, told: string][] = [
  ['ends.timer', `${uncaught}late\n`],
  ['ends.rejection', `${uncaught}unseen\n`],
  ['ends.leave', 'The minion function ended its process (process.exit, exit code 3);'],
  ['ends.away', 'The minion function ended its process (process.exit, exit code 0);'],
]

const endless: [fun: string, told: string] = [
  'endless.wait',
  "Error running 'endless.wait': The minion function waits for a promise that nothing in its process will ever resolve or reject.",
]

test.each([...failures, endless])('salt-call %s gives a failed result', async (fun, told) => {
  const { directory } = cluster.minions.get('pool')!
  const { stdout, stderr, code } = await cluster.spawned('salt-call', '-c', directory, '--local', fun)
  expect(stdout + stderr).toContain(told)
  expect(stderr).not.toMatch(/Node\.js v|node:internal\/process/)
  expect(code).toBe(1)
})

test('a runner that waits for a promise that nothing resolves ends with an error, where no master runs', async () => {
  await writeFile(join(folder, 'master'), `root_dir: ${join(folder, 'state')}\n`)
  const { stdout, stderr, code } = await cluster.spawned(
    ...['salt-run', '-c', folder, '-m', folder, 'endless.wait'],
  )
  expect(stdout).toBe('')
  expect(stderr).toContain(
    'ERROR: salt-run cannot go on: it waits for a promise that nothing in its process will ever resolve or reject.',
  )
  expect(code).toBe(1)
})

test.each(failures)(
  'salt gives a failed result for %s, from a process of its own and from the minion',
  async (fun, told) => {
    const { stdout, code } = await cluster.salt('*', fun, '--out', 'json', '--static')
    const returned = JSON.parse(stdout)
    const said = expect.stringContaining(`ERROR: ${told}`)
    expect(returned).toEqual({ pool: said, single: said })
    expect(code).toBe(1)
    const { stdout: alive } = await cluster.salt('*', 'test.ping', '--out', 'json', '--static')
    expect(JSON.parse(alive)).toEqual({ pool: true, single: true })
  },
)
