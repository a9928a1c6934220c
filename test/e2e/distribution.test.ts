/** Files and extensions on their way from a master to its minions, by real processes. */
import { createHash, randomBytes } from 'node:crypto'
import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type LocalClient, RunnerClient } from '../../core/client/index.ts'
import { parseInput } from '../../core/loader/calls/words.ts'
import { Cluster, run } from '../harness/daemons.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { quietLog } from '../harness/log.ts'
import { returnsOf } from '../harness/returns-of.ts'
import { until } from '../harness/until.ts'

let cluster: Cluster
let client: LocalClient
let srv: string

beforeAll(async () => {
  srv = await temporaryFolder('salt-srv-')
  await write('_modules/early.js', module("'here from the start'"))
  cluster = await Cluster.open({
    minions: ['web1'],
    master: { file_recv: true, file_roots: { base: [srv] } },
    minion: { extension_modules: '/extmods' },
  })
  client = await cluster.client()
})
afterAll(async () => {
  await client?.close()
  await cluster?.close()
  await removeFolder(srv)
})

async function write(path: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(join(srv, path)), { recursive: true })
  await writeFile(join(srv, path), content)
}

const module = (value: string) =>
  `import { fn } from 'salt-ts'\n/** Give a value. */\nexport const value = fn(() => ${value})\n`

/** What the minion answers, and whether the command line says that it worked. */
async function ask(...words: string[]): Promise<{ answer: unknown; code: number | null }> {
  const { stdout, code, stderr } = await cluster.salt('web1', ...words, '-t', '30', '--out', 'json')
  if (!stdout) throw new Error(stderr)
  return { answer: JSON.parse(stdout).web1, code }
}
/** What it answers, asked without a command, which costs less. */
async function answer(fun: string, ...words: string[]): Promise<unknown> {
  return (await returnsOf(client, { tgt: 'web1', fun, arg: parseInput(words), timeout: 30 })).web1
}

describe('extensions of users', () => {
  test('are loaded if they are there when a minion starts', async () => {
    expect(await answer('early.value')).toBe('here from the start')
    expect(await answer('saltutil.list_extmods')).toEqual({ modules: ['early'] })
  })

  test('a running job ends with the old code, and the next one has the new code, helpers included', async () => {
    const hello = (text: string) => `import { fn, p } from 'salt-ts'
      import { existsSync } from 'node:fs'
      import { setTimeout } from 'node:timers/promises'
      import { end } from './_end.ts'
      export const greet = fn(() => '${text}' + end)
      export const slowly = fn({ file: p.string() }, async ({ file }) => {
        while (!existsSync(file)) await setTimeout(20)
        return '${text}' + end
      })\n`
    await write('_modules/hello.ts', hello('old'))
    await write('_modules/_end.ts', "export const end = '!'\n")
    expect(await ask('saltutil.sync_modules')).toEqual({ answer: ['modules._end', 'modules.hello'], code: 0 })
    const go = join(cluster.root, 'go')
    const running = returnsOf(client, { tgt: 'web1', fun: 'hello.slowly', arg: [go], timeout: 30 })
    await until('the job runs', async () => {
      const jobs = (await answer('saltutil.is_running', 'hello.slowly')) as unknown[]
      return jobs.length > 0
    })
    await write('_modules/hello.ts', hello('new'))
    await write('_modules/_end.ts', "export const end = '?'\n")
    expect(await answer('saltutil.sync_all')).toMatchObject({ modules: ['modules._end', 'modules.hello'] })
    expect(await answer('hello.greet')).toBe('new?')
    await writeFile(go, '')
    expect((await running).web1).toBe('old!')
  })

  test('a broken file does not affect the others, and details=True gives all as maps', async () => {
    await write('_modules/hello.ts', 'export const = 1\n')
    const { answer: report, code } = await ask('saltutil.sync_modules', 'details=True')
    expect(code).not.toBe(0)
    const reason = expect.stringMatching(/\/extmods\/modules\/hello\.ts:1: SyntaxError/)
    expect(report).toEqual({
      added: [],
      changed: ['modules.hello'],
      removed: [],
      failed: { 'modules.hello': reason },
    })
    expect(await answer('early.value')).toBe('here from the start')
  })

  test('grains are known to the master when the sync returns', async () => {
    const source =
      "import { grains } from 'salt-ts'\nexport default grains({ collect: async () => ({ site: 'berlin' }) })\n"
    await write('_grains/site.js', source)
    expect(await answer('saltutil.sync_grains')).toEqual(['grains.site'])
    const request = { tgt: 'site:berlin', tgtType: 'grain', fun: 'test.ping' }
    expect(await returnsOf(client, request)).toEqual({ web1: true })
  })
})

describe('on the host of the master', () => {
  test('runners and outputters are synced, and can be used at once', async () => {
    await write('_runners/own.js', module("'from a runner'"))
    await write(
      '_output/shout.js',
      'export default { render: (value) => JSON.stringify(value).toUpperCase() }\n',
    )
    const synced = await cluster.spawned('salt-run', 'saltutil.sync_all', '--out', 'json')
    expect(JSON.parse(synced.stdout)).toMatchObject({ runners: ['runners.own'], output: ['output.shout'] })
    const called = await cluster.spawned('salt-run', 'own.value', '--out', 'shout')
    expect(called.stdout.trim()).toBe('"FROM A RUNNER"')
    await write('_runners/own.js', 'import "not-installed"\n')
    const broken = await cluster.spawned('salt-run', 'saltutil.sync_runners', '--out', 'json')
    expect(broken.code).not.toBe(0)
    expect(JSON.parse(broken.stdout)[1]).toMatch(/^runners\.own \(failed to load: .*not-installed/)
  })

  test('the file server can be queried', async () => {
    const runners = new RunnerClient({ config: cluster.config, log: quietLog, user: 'ann' })
    const look = async (fun: string) => (await runners.run(fun, [], {})).return
    expect(await look('fileserver.envs')).toEqual(['base'])
    expect(await look('fileserver.file_list')).toContain('_modules/early.js')
    expect(await look('fileserver.dir_list')).toContain('_modules')
    expect(await look('fileserver.clear_file_list_cache')).toEqual({ roots: ['base'] })
    expect(await look('fileserver.update')).toBe(true)
    await runners.close()
  })
})

test('a tree of 40 MB with names of all kinds comes byte by byte', async () => {
  const names = [
    'a b',
    'ünï',
    '日本語',
    '😀',
    "q'",
    '"',
    'back\\slash',
    'new\nline',
    '?saltenv=x',
    '|pipe',
    '%2e',
    '*',
    '...',
  ]
  const content = new Map<string, Buffer>([['empty', Buffer.alloc(0)]])
  for (const name of names) content.set(`odd/dir ${name}/${name}`, randomBytes(500))
  for (let file = 0; file < 500; file++) content.set(`many/${file % 23}/f${file}`, randomBytes(file * 7))
  for (const size of [2 ** 20 - 1, 2 ** 20, 2 ** 20 + 1, 35 * 2 ** 20])
    content.set(`big/${size}`, randomBytes(size))
  content.set('text', Buffer.from('zeile äöü\n'.repeat(200_000)))
  for (const [path, bytes] of content) await write(`tree/${path}`, bytes)
  await mkdir(join(srv, 'tree', 'nothing', 'in here'), { recursive: true })
  await symlink('text', join(srv, 'tree', 'link'))
  await symlink('/etc/passwd', join(srv, 'tree', 'out'))
  const dest = join(cluster.root, 'got')
  const { code, answer: places } = await ask('cp.get_dir', 'salt://tree', dest)
  expect(code).toBe(0)
  expect(places).toHaveLength(content.size + 2)
  const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
  for (const [path, bytes] of content)
    expect(digest(await readFile(join(dest, 'tree', path))), path).toBe(digest(bytes))
  expect(digest(await readFile(join(dest, 'tree', 'link')))).toBe(digest(content.get('text')!))
  expect(await readdir(join(dest, 'tree', 'nothing', 'in here'))).toEqual([])
  expect(await readdir(join(dest, 'tree'))).not.toContain('out')
})

test('a pushed file is stored in the folder of its minion', async () => {
  const path = join(cluster.root, 'pushed')
  const bytes = randomBytes(3_000_000)
  await writeFile(path, bytes)
  expect(await answer('cp.push', path)).toBe(true)
  const kept = join(cluster.config.cachedir, 'minions', 'web1', 'files', path)
  expect((await readFile(kept)).equals(bytes)).toBe(true)
  expect((await stat(kept)).mode & 0o777).toBe(0o600)
})

test('a script of the file server is run', async () => {
  await write('report.sh', '#!/bin/sh\necho "$1 on $(cat)"\nexit 3\n')
  expect(await answer('cmd.script', 'salt://report.sh', 'args=word', 'stdin=it')).toMatchObject({
    retcode: 3,
    stdout: 'word on it',
  })
  expect(await answer('cmd.script_retcode', 'salt://nothing.sh')).toBe(1)
})

test('salt-call works with the files of its own host', async () => {
  const folder = join(cluster.root, 'alone')
  await mkdir(folder, { mode: 0o700 })
  const options = {
    id: 'alone',
    root_dir: folder,
    cachedir: '/cache',
    pki_dir: '/pki',
    sock_dir: '/run',
    log_file: '/log',
  }
  await writeFile(join(folder, 'minion'), JSON.stringify({ ...options, file_client: 'local' }), {
    mode: 0o600,
  })
  await chmod(folder, 0o700)
  const call = async (...words: string[]) =>
    JSON.parse((await run('salt-call', ['-c', folder, '--file-root', srv, ...words, '--out', 'json'])).stdout)
      .local
  expect(await call('cp.list_master', 'prefix=_modules/e')).toEqual(['_modules/early.js'])
  expect(await call('--local', 'saltutil.sync_modules')).toContain('modules.early')
  expect(await call('early.value')).toBe('here from the start')
})
