/** Minions write returns to the stores that `--return` and their option `return` name, which may be down. */
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Cluster } from '../harness/daemons.ts'
import { folderStore } from '../harness/folder-store.ts'
import { runHere } from '../harness/run-here.ts'
import { until } from '../harness/until.ts'

let root: string
let store: string
let drop: () => Promise<void>
let cluster: Cluster

beforeAll(async () => {
  const made = await folderStore()
  const { options } = made
  ;({ root, store, drop } = made)
  cluster = await Cluster.open()
  await cluster.addMinion('web1', { ...options, returner_kwargs_allowed: ['folder'] })
  await cluster.addMinion('web2', {
    ...options,
    return: 'rawfile_json',
    'rawfile_json.filename': join(root, 'web2'),
  })
})
afterAll(async () => {
  await cluster?.close()
  await drop?.()
})

const jidIn = (text: string): string => /\d{20}/.exec(text)?.[0] ?? ''
const arrived = (jid: string, ...ids: string[]) =>
  until(`the returns of ${jid}`, () => ids.every((id) => existsSync(join(store, `ret ${jid} ${id}`))))

test('--return writes the return of each minion to the store', async () => {
  const { stdout, code } = await cluster.salt('*', 'test.echo', 'hello', '--return', 'folder', '--show-jid')
  expect(code).toBe(0)
  const jid = jidIn(stdout)
  await arrived(jid, 'web1', 'web2')
  expect(JSON.parse(await readFile(join(store, `ret ${jid} web1`), 'utf8'))).toMatchObject({
    jid,
    id: 'web1',
    fun: 'test.echo',
    fun_args: ['hello'],
    return: 'hello',
    retcode: 0,
    success: true,
  })
})

test('--return_kwargs and --return_config choose another location', async () => {
  const other = join(root, 'other')
  await mkdir(other)
  const { stdout, code } = await cluster.salt(
    ...['web1', 'test.ping', '--return', 'folder', '--return_kwargs', `{"path": "${other}"}`, '--show-jid'],
  )
  expect(code).toBe(0)
  await until('the return', () => existsSync(join(other, `ret ${jidIn(stdout)} web1`)))
})

test.each([
  [['--return', 'foldr'], "There is no 'foldr' in the returners. Available:"],
  [['--return', 'folder', '--return_kwargs', '{"pth": "/"}'], "There is no option 'pth' in --return_kwargs"],
  [
    ['--module-executors', '[sudo]'],
    "Executor 'sudo' is not available: 'sudo' of the executors cannot be used:",
  ],
])('a job with %j does not run, and says why', async (flags, sentence) => {
  const { stdout, stderr, code } = await cluster.salt('web1', 'test.ping', ...flags)
  expect(stdout + stderr).toContain(sentence)
  expect(code).toBe(1)
})

test('--return_kwargs fail the job on a minion that does not allow them, with the option to set', async () => {
  const elsewhere = join(root, 'elsewhere')
  const { stdout, stderr, code } = await cluster.salt(
    ...['web2', 'test.ping', '--return', 'rawfile_json', '--return_kwargs', `{"filename": "${elsewhere}"}`],
  )
  expect(stdout + stderr).toContain('returner_kwargs_allowed: [rawfile_json.filename]')
  expect(code).toBe(1)
  expect(existsSync(elsewhere)).toBe(false)
})

test('the option return of a minion writes every return', async () => {
  const { stdout } = await cluster.salt('web2', 'test.echo', 'always', '--show-jid')
  const jid = jidIn(stdout)
  const lines = await until('the return', async () => {
    const text = await readFile(join(root, 'web2'), 'utf8').catch(() => '')
    return text.includes(jid) && text.trim().split('\n')
  })
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ jid, id: 'web2', return: 'always' })
})

test('a store that is down fails no job, is reported, and has every return once, also after a restart of the minion', async () => {
  await rm(store, { recursive: true })
  const jids: string[] = []
  for (let n = 0; n < 3; n++) {
    const { stdout, stderr, code } = await cluster.salt(
      'web1',
      'test.echo',
      String(n),
      '--return',
      'folder',
      '--show-jid',
    )
    expect(code).toBe(0)
    expect(stderr).toContain(
      'WARNING: The return of web1 is not yet in the store of the returner folder: ENOENT',
    )
    jids.push(jidIn(stdout))
  }
  const minion = cluster.minions.get('web1')!
  await minion.logged('Returner folder: its store accepts no records; they wait in the outbox.')
  await minion.stop()
  minion.start()
  await mkdir(store)
  for (const jid of jids) await arrived(jid, 'web1')
  expect((await readdir(store)).filter((name) => jids.some((jid) => name.includes(jid)))).toHaveLength(3)
})

test('salt-call --return writes to the store, and leaves to the minion what the store does not accept', async () => {
  const call = (...words: string[]) =>
    runHere('salt-call', [
      '-c',
      cluster.minions.get('web1')!.directory,
      'test.echo',
      ...words,
      '--return',
      'folder',
      '--metadata',
      '--out',
      'json',
    ])
  const { stdout, stderr } = await call('one')
  expect(stderr).toBe('')
  await arrived(JSON.parse(stdout).local.jid, 'web1')
  await rm(store, { recursive: true })
  const { stdout: second, stderr: warning, code } = await call('two')
  expect(code).toBe(0)
  expect(warning).toContain('WARNING: The store of the returner folder does not accept the return: ENOENT')
  await mkdir(store)
  await arrived(JSON.parse(second).local.jid, 'web1')
})

test('salt-call refuses a returner that does not exist before it calls anything', async () => {
  const { stderr, code } = await runHere('salt-call', [
    '-c',
    cluster.minions.get('web1')!.directory,
    'test.ping',
    '--return',
    'nope',
  ])
  expect(stderr).toContain("There is no 'nope' in the returners.")
  expect(code).not.toBe(0)
})
