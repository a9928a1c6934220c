/** Requests as people send them, by curl and by Debian's salt-pepper, to a master that serves them, with two minions. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { API_CLIENTS } from '../harness/api-clients.ts'
import { Cluster, Daemon, jobsWithin } from '../harness/daemons.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { needs, program } from '../harness/needs.ts'
import { freePort } from '../harness/ports.ts'
import { treeOf } from '../harness/processes.ts'
import { returnsOf } from '../harness/returns-of.ts'
import { until } from '../harness/until.ts'

const SECRET = 'a shared secret of the test'
const credentials = { username: 'saltdev', sharedsecret: SECRET, eauth: 'sharedsecret' }

let cluster: Cluster
let folder: string
let port: number
let token: string

beforeAll(async () => {
  port = await freePort()
  folder = await temporaryFolder('salt-api-')
  cluster = await Cluster.open({
    minions: ['m1', 'm2'],
    minion: jobsWithin,
    master: {
      api: { host: '127.0.0.1', port, disable_ssl: true },
      api_logfile: '/api',
      sharedsecret: SECRET,
      netapi_enable_clients: API_CLIENTS,
      external_auth: {
        sharedsecret: {
          saltdev: ['.*', '@runner', '@wheel', '@jobs'],
          pinger: [{ m1: ['test.ping'] }],
        },
      },
    },
  })
  await cluster.master.logged('salt-api is ready')
  token = (await curl('/login', ...form(credentials))).json.return[0].token
})
afterAll(async () => {
  await cluster.close()
  await removeFolder(folder)
})

interface Told {
  readonly status: number
  readonly body: string
  // biome-ignore lint/suspicious/noExplicitAny: whatever JSON it is
  readonly json: any
}

const form = (members: object) =>
  Object.entries(members).flatMap(([name, value]) => ['-d', `${name}=${value}`])

async function curl(path: string, ...args: string[]): Promise<Told> {
  const url = `http://localhost:${port}${path}`
  const { stdout } = await execa('curl', ['-sS', '-m', '60', '-w', '\n%{http_code}', url, ...args])
  const body = stdout.slice(0, stdout.lastIndexOf('\n'))
  const json = /^[[{]/.test(body) ? JSON.parse(body) : undefined
  return { status: Number(stdout.slice(body.length + 1)), body, json }
}

const signed = (path: string, ...args: string[]) => curl(path, '-H', `X-Auth-Token: ${token}`, ...args)
const json = (body: unknown) => ['-H', 'Content-type: application/json', '-d', JSON.stringify(body)]
const yaml = ['-H', 'Accept: application/x-yaml']

describe('what the documentation of Salt shows with curl', needs(program('curl')), () => {
  test('signing in by a form or JSON, with a jar of cookies', async () => {
    const jar = join(folder, 'cookies.txt')
    const { json: made } = await curl('/login', '-c', jar, ...json(credentials))
    expect(made.return[0]).toMatchObject({
      user: 'saltdev',
      eauth: 'sharedsecret',
      token: expect.stringMatching(/^[\da-f]{64}$/),
    })
    expect(made.return[0].perms).toEqual(['.*', '@jobs', '@runner', '@wheel'])
    const answer = await curl(
      '',
      '-b',
      jar,
      ...yaml,
      ...json([{ client: 'local', tgt: '*', fun: 'test.ping' }]),
    )
    expect(answer.body).toBe('return:\n- m1: true\n  m2: true\n')
    expect((await curl('/logout', '-b', jar, '-X', 'POST')).json).toEqual({
      return: 'Your token has been cleared',
    })
    expect(
      (await curl('', '-b', jar, ...json([{ client: 'local', tgt: '*', fun: 'test.ping' }]))).status,
    ).toBe(401)
  })

  test('commands in a form', async () => {
    const chunk = { client: 'local', tgt: 'm1', fun: 'test.kwarg' }
    expect((await signed('', ...form(chunk), '-d', 'arg=one=1', '-d', 'arg=two=2')).json).toMatchObject({
      return: [{ m1: { one: 1, two: 2 } }],
    })
    expect(
      (await signed('/', ...form({ ...chunk, tgt: 'm1,m2', tgt_type: 'list', fun: 'test.ping' }))).json,
    ).toEqual({
      return: [{ m1: true, m2: true }],
    })
  })

  test('several commands in one request', async () => {
    const chunks = [
      { client: 'local', tgt: 'os:*', tgt_type: 'grain', fun: 'test.echo', arg: ['hi'] },
      { client: 'local', tgt: '*', fun: ['test.ping', 'test.echo'], arg: [[], ['x']] },
      { client: 'local', tgt: 'm1', fun: 'test.arg', arg: [1, 'a=b'], kwarg: { c: 3 }, full_return: true },
      { client: 'local', tgt: 'nobody', fun: 'test.ping' },
      { client: 'local_subset', tgt: '*', fun: 'test.ping', subset: 1 },
      { client: 'local_batch', tgt: '*', fun: 'test.ping', batch: '1' },
      { client: 'runner', fun: 'manage.up' },
      { client: 'wheel', fun: 'key.list_all' },
    ]
    const [echoed, both, full, none, subset, first, second, up, keys] = (await signed('', ...json(chunks)))
      .json.return
    expect(echoed).toEqual({ m1: 'hi', m2: 'hi' })
    expect(both.m2).toEqual({ 'test.ping': true, 'test.echo': 'x' })
    expect(full.m1).toMatchObject({
      retcode: 0,
      jid: expect.any(String),
      ret: { args: [1], kwargs: { a: 'b', c: 3 } },
    })
    expect(none).toEqual({})
    expect(Object.values(subset)).toEqual([true])
    expect({ ...first, ...second }).toEqual({ m1: true, m2: true })
    expect(up).toEqual(['m1', 'm2'])
    expect(keys.data.return).toMatchObject({ minions: ['m1', 'm2'], minions_pre: [] })
  })

  test('starting a job and looking it up', async () => {
    const started = await signed('/minions', ...form({ tgt: '*', fun: 'test.echo', arg: 'later' }))
    const { jid } = started.json.return[0]
    expect(started.status).toBe(202)
    expect(started.json._links).toEqual({ jobs: [{ href: `/jobs/${jid}` }] })
    const { json: job } = await until('the returns of the job', async () => {
      const found = await signed(`/jobs/${jid}`)
      return Object.keys(found.json.return?.[0] ?? {}).length === 2 ? found : undefined
    })
    expect(job.return).toEqual([{ m1: 'later', m2: 'later' }])
    expect(job.info[0]).toMatchObject({ jid, Function: 'test.echo', Target: '*', User: 'saltdev' })
    expect((await signed('/jobs')).json.return[0][jid]).toMatchObject({ Function: 'test.echo' })
    expect((await signed('/jobs/20010101010101000000')).status).toBe(404)
  })

  test('minions, keys, and keys for a new minion', async () => {
    expect((await signed('/minions/m1')).json.return[0].m1).toMatchObject({ id: 'm1', kernel: 'Linux' })
    expect(Object.keys((await signed('/minions')).json.return[0]).sort()).toEqual(['m1', 'm2'])
    expect((await signed('/keys')).json.return.minions).toEqual(['m1', 'm2'])
    expect((await signed('/keys/m1')).json.return.minions.m1).toMatch(/^[\da-f:]+$/)
    const tar = join(folder, 'keys.tar')
    await curl('/keys', ...form({ ...credentials, mid: 'jerry' }), '-o', tar)
    expect((await execa('tar', ['-tf', tar])).stdout).toBe('minion.pub\nminion.pem')
    expect((await signed('/keys')).json.return.minions).toContain('jerry')
    await signed('', ...json([{ client: 'wheel', fun: 'key.delete', match: 'jerry' }]))
  })

  test('commands that bring their own credentials, or a token of their own', async () => {
    const ping = { client: 'local', tgt: 'm1', fun: 'test.ping' }
    expect((await curl('/run', ...yaml, ...json([{ ...ping, ...credentials }]))).body).toBe(
      'return:\n- m1: true\n',
    )
    const [made] = (await curl('/token', ...json(credentials))).json
    expect(made).toMatchObject({ name: 'saltdev', eauth: 'sharedsecret' })
    expect((await curl('/run', ...json([{ ...ping, token: made.token }]))).json).toEqual({
      return: [{ m1: true }],
    })
  })
})

test('an unauthenticated user is refused with 401, an unauthorized one with 403 and the reason', async () => {
  const ping = { client: 'local', tgt: 'm1', fun: 'test.ping' }
  expect((await curl('/run', ...json([{ ...ping, token: 'ab'.repeat(32) }]))).status).toBe(401)
  expect((await curl('/run', ...json([{ ...ping, ...credentials, sharedsecret: 'x' }]))).status).toBe(401)
  expect((await curl('/login', ...form({ ...credentials, username: 'nobody' }))).status).toBe(401)
  const pinger = { ...credentials, username: 'pinger' }
  expect((await curl('/run', ...json([{ ...ping, ...pinger }]))).json).toEqual({ return: [{ m1: true }] })
  for (const chunk of [
    { ...ping, tgt: 'm2' },
    { ...ping, fun: 'test.echo', arg: ['x'] },
    { ...ping, fun: ['test.ping', 'test.echo'], arg: [[], ['x']] },
    { client: 'runner', fun: 'manage.up' },
    { client: 'wheel', fun: 'key.list_all' },
  ]) {
    const answer = await curl('/run', ...json([{ ...chunk, ...pinger }]))
    expect([answer.status, answer.json.return]).toEqual([403, expect.stringContaining('pinger')])
  }
})

describe('salt-pepper', needs(program('salt-pepper')), () => {
  let rc: string
  beforeAll(async () => {
    rc = join(folder, 'pepperrc')
    const lines = ['[main]', `SALTAPI_URL=http://localhost:${port}/`, 'SALTAPI_USER=saltdev']
    await writeFile(
      rc,
      `${[...lines, `SALTAPI_PASS=${SECRET}`, 'SALTAPI_EAUTH=sharedsecret'].join('\n')}\n`,
      { mode: 0o600 },
    )
  })

  const pepper = async (...args: string[]) => {
    const { stdout, exitCode } = await execa('salt-pepper', ['-c', rc, ...args], {
      env: { HOME: folder },
      input: '',
      reject: false,
    })
    return { code: exitCode, shown: /^[[{]/.test(stdout) ? JSON.parse(stdout) : stdout }
  }

  const both = { return: [{ m1: true, m2: true }] }

  test.each([
    [['*', 'test.ping']],
    [['-L', 'm1,m2', 'test.ping']],
    [['-G', 'kernel:Linux', 'test.ping']],
    [['-C', 'm1 or E@m2$', 'test.ping']],
    [['-r', '*', 'test.ping']],
  ])('%j', async (args) => {
    const { code, shown } = await pepper(...args)
    expect(code).toBe(0)
    expect(shown).toEqual(both)
  })

  test('--fail-if-incomplete', async () => {
    const { code, shown } = await pepper('--fail-if-incomplete', '*', 'test.ping')
    expect(code).toBe(0)
    expect(shown.split('\n').sort()).toEqual(['"{Failed: []}"', '"{m1: True}"', '"{m2: True}"'])
  })

  test('--batch 1', async () => {
    const { shown } = await pepper('--batch', '1', '*', 'test.ping')
    expect(Object.assign({}, ...shown.return)).toEqual({ m1: true, m2: true })
  })

  test('runners and wheel functions', async () => {
    expect((await pepper('--client=runner', 'manage.up')).shown).toEqual({ return: [['m1', 'm2']] })
    const keys = await pepper('--client=wheel', 'key.finger', 'match=m1')
    expect(keys.shown.return[0].data.return.minions).toHaveProperty('m1')
    const echoed = await pepper('--client=runner', 'test.arg', 'x', 'k=v')
    expect(echoed.shown).toEqual({ return: [{ args: ['x'], kwargs: { k: 'v' } }] })
  })

  test('-T keeps the token and uses it again', async () => {
    expect((await pepper('-T', '*', 'test.ping')).shown).toEqual(both)
    const kept = await readFile(join(folder, '.peppercache'), 'utf8')
    expect((await pepper('-T', '*', 'test.ping')).shown).toEqual(both)
    expect(await readFile(join(folder, '.peppercache'), 'utf8')).toBe(kept)
  })
})

test('events are read with the token in the address, and a hook fires one', async () => {
  const url = `http://localhost:${port}/events?token=${token}&tag=salt/netapi/*&tag=salt/job/*/ret/m1`
  const reading = execa('curl', ['-sSN', '-m', '60', url], { reject: false })
  let text = ''
  reading.stdout.on('data', (data) => {
    text += data
  })
  await until('the stream', () => text.includes('retry: 400'))
  expect((await signed('/hook/build/done', ...json({ revision: 'aa22' }))).json).toEqual({ success: true })
  await signed('', ...json([{ client: 'local', tgt: '*', fun: 'test.ping' }]))
  await until('both events', () => text.includes('/hook/') && text.includes('/ret/m1'))
  expect(text.match(/^tag: .*/gm)).toEqual([
    'tag: salt/netapi/hook/build/done',
    expect.stringMatching(/^tag: salt\/job\/\d{20}\/ret\/m1$/),
  ])
  expect(text).not.toContain(token)
  await signed('/logout', '-X', 'POST')
  expect((await reading).stdout).toContain(': The token has expired or was revoked.')
  token = (await curl('/login', ...form(credentials))).json.return[0].token
})

test('a salt-api that dies is restarted by its master', async () => {
  const child = treeOf(cluster.master.pid).find(({ command }) => command.includes('salt-api'))
  if (child === undefined) throw new Error('salt-api is no child of the master')
  process.kill(child.pid, 'SIGKILL')
  await cluster.master.logged('salt-api ended (SIGKILL) and is started again')
  await until('salt-api to serve again', () =>
    curl('').then(
      ({ status }) => status === 200,
      () => false,
    ),
  )
})

test('salt-api runs by itself beside a master, waits for it, and ends in order', async () => {
  const own = await freePort()
  const directory = join(folder, 'api')
  const options = {
    ...cluster.master.options,
    api: { start: false, host: '127.0.0.1', port: own, disable_ssl: true },
    api_logfile: '/alone',
    api_pidfile: '/alone.pid',
  }
  const master = new Daemon('salt-master', directory, options)
  const daemon = new Daemon('salt-api', directory, options)
  await master.writeConfig()
  daemon.start()
  await daemon.logged(`salt-api is ready at http://127.0.0.1:${own}`)
  const { stdout } = await execa('curl', ['-sS', `http://localhost:${own}`])
  expect(JSON.parse(stdout).return).toBe('Welcome')
  const pidFile = join(String(cluster.master.options.root_dir), 'alone.pid')
  expect(await readFile(pidFile, 'utf8')).toBe(`${daemon.pid}\n`)
  const waiting = execa('curl', [
    '-sS',
    `http://localhost:${own}/run`,
    ...json([{ client: 'local', tgt: 'm1', fun: 'test.sleep', arg: [20], ...credentials }]),
  ])
  const client = await cluster.client()
  await until('the job to run', async () => {
    const running = await returnsOf(client, { tgt: 'm1', fun: 'saltutil.running' })
    return JSON.stringify(running).includes('test.sleep')
  })
  await client.close()
  await daemon.stop()
  expect(JSON.parse((await waiting).stdout)).toMatchObject({ status: 503 })
  expect(daemon.exitCode).toBe(0)
})
