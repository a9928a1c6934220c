/** Files of users, run by real minions. */
import { spawn } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bin, Cluster, run } from '../harness/daemons.ts'
import { until } from '../harness/until.ts'

let cluster: Cluster
let folder: string

beforeAll(async () => {
  cluster = await Cluster.open()
  folder = join(cluster.root, 'mine')
  await put('modules/.keep', '')
  await cluster.addMinion('web1', { module_dirs: [folder] })
})
afterAll(() => cluster?.close())

async function put(name: string, text: string): Promise<string> {
  const file = join(folder, name)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text)
  return file
}

test('salt --stream shows each row as it comes, and the return after them', async () => {
  const go = join(folder, 'go')
  await put(
    'modules/rows.js',
    `import { existsSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { fn } from 'salt-ts'

/** Two rows; the second when a file is there. */
export const two = fn(async function* () {
  yield 'first row'
  while (!existsSync('${go}')) await setTimeout(20)
  yield 'second row'
})

/** A row, and something else in the end. */
export const summed = fn(async function* () {
  yield { done: 1 }
  return 'in short'
})
`,
  )
  const child = spawn(join(bin, 'salt'), [
    '-c',
    cluster.configDir,
    '--stream',
    'web1',
    'rows.two',
    '--out',
    'txt',
  ])
  let shown = ''
  child.stdout.setEncoding('utf8').on('data', (text) => (shown += text))
  const ended = new Promise((done) => child.once('close', done))
  await until('the first row', () => shown.includes('first row'))
  expect(shown).toBe('web1: first row\n')
  await writeFile(go, '')
  expect(await ended).toBe(0)
  expect(shown).toBe('web1: first row\nweb1: second row\n')
  const summed = await cluster.salt('--stream', 'web1', 'rows.summed', '--out', 'json', '--out-indent=-1')
  expect(summed.stdout).toBe('{"web1": {"done": 1}}\n{"web1": "in short"}\n')
  expect((await cluster.salt('web1', 'rows.two', '--out', 'json', '--out-indent=-1')).stdout).toBe(
    '{"web1": ["first row", "second row"]}\n',
  )
  const both = await cluster.salt('--stream', '--static', 'web1', 'rows.two')
  expect(both).toMatchObject({ stdout: '', stderr: expect.stringContaining('leave one out') })
  expect(both.code).not.toBe(0)
})

test('sys.why and doctor.module say which file provides a function, and why others do not', async () => {
  const apt = await put(
    'modules/apt.js',
    `export const virtualName = 'wares'\nexport const install = () => 'apt'\n`,
  )
  const yum = await put(
    'modules/yum.js',
    `export const virtualName = 'wares'\nexport const virtual = 'needs yum'\n`,
  )
  const why = await cluster.salt('web1', 'sys.why', 'wares.install', '--out', 'json')
  expect(JSON.parse(why.stdout).web1).toEqual({
    name: 'wares.install',
    provided_by: apt,
    files: { [apt]: 'provides it', [yum]: 'is not offered: needs yum' },
  })
  const doctor = await cluster.command('salt-run', 'doctor.module', 'wares.install', '--out', 'json')
  expect(JSON.parse(doctor.stdout)).toEqual({ name: 'wares.install', provided_by: { [apt]: ['web1'] } })
  const here = await cluster.command(
    'salt-run',
    'doctor.module',
    'jobs.actve',
    'kind=runners',
    '--out',
    'json',
  )
  expect(JSON.parse(here.stdout)).toMatchObject({
    provided_by: null,
    advice: 'There is no jobs.actve; did you mean jobs.active?',
  })
})

test('CommonJS files can require salt-ts, their helpers and packages, wherever they are', async () => {
  await put('local/node_modules/dep/index.js', `exports.mark = (text) => text + '!'\n`)
  await put('local/modules/_shout.cjs', `exports.shout = (text) => text.toUpperCase()\n`)
  await put(
    'local/modules/old.cjs',
    `const { fn, p } = require('salt-ts')
const { LocalClient } = require('salt-ts/client')
const { mark } = require('dep')
const { shout } = require('./_shout.cjs')

/** Greet loudly. */
exports.hi = fn({ who: p.string() }, ({ who }) => mark(shout(who) + LocalClient.name))
`,
  )
  const call = (...words: string[]) =>
    run('salt-call', [
      '-c',
      cluster.configDir,
      '--local',
      '-m',
      join(folder, 'local'),
      '--out',
      'txt',
      ...words,
    ])
  expect(await call('old.hi', 'ada')).toMatchObject({ stdout: 'local: ADALocalClient!\n', code: 0 })
  expect((await call('sys.doc', 'old')).stdout).toContain('Greet loudly.')
})

test('a module of the user in place of a built-in one answers instead of it, also where the minion itself would', async () => {
  const file = await put('modules/test.js', `export const ping = () => 'my ping'\n`)
  await cluster.salt('web1', 'saltutil.refresh_modules')
  const ping = await cluster.salt('web1', 'test.ping', '--out', 'txt')
  expect(ping.stdout).toBe('web1: my ping\n')
  const why = await cluster.salt('web1', 'sys.why', 'test.ping', '--out', 'json')
  expect(JSON.parse(why.stdout).web1).toMatchObject({ provided_by: file })
  const lost = await cluster.salt('web1', 'test.echo', 'x', '--out', 'txt')
  expect(lost.stdout + lost.stderr).toContain(`is hidden by ${file}`)
  const log = cluster.minions.get('web1')!.output
  expect(log).toContain(`${file} is used instead of the built-in test of the modules`)
  await rm(file)
  await until('the built-in module to be back', async () => {
    const { stdout } = await cluster.salt('web1', 'test.ping', '--out', 'txt')
    return stdout === 'web1: True\n'
  })
})
