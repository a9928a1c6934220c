/** `salt-ts/http` against salt-api of a master with two minions. */
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { deferred } from '../../core/base/deferred.ts'
import { HttpClient, HttpError, type HttpEvent, untyped } from '../../core/client/http/index.ts'
import { API_CLIENTS } from '../harness/api-clients.ts'
import { Cluster } from '../harness/daemons.ts'
import { freePort } from '../harness/ports.ts'
import { treeOf } from '../harness/processes.ts'
import { SLOW } from '../harness/slow.ts'
import { until } from '../harness/until.ts'

const credentials = { eauth: 'sharedsecret', username: 'ada', sharedsecret: 'a shared secret of the test' }

let cluster: Cluster
let url: string
let client: HttpClient
let token: string
beforeAll(async () => {
  const port = await freePort()
  url = `http://127.0.0.1:${port}`
  cluster = await Cluster.open({
    minions: ['web1', 'web2'],
    master: {
      api: { host: '127.0.0.1', port, disable_ssl: true },
      sharedsecret: credentials.sharedsecret,
      netapi_enable_clients: API_CLIENTS,
      external_auth: { sharedsecret: { ada: ['.*', '@runner', '@wheel'] } },
      max_event_size: 2000,
    },
  })
  await cluster.master.logged('salt-api is ready')
  client = new HttpClient({ url })
  token = (await client.login(credentials)).token
}, 120_000)
afterAll(() => cluster?.close())

test('results have a state: returned, failed with an exit code, or missing with the reason', async () => {
  expect(await client.cmd({ tgt: 'web1', fun: 'test.echo', arg: ['hi'] })).toEqual({
    web1: { id: 'web1', jid: expect.stringMatching(/^\d{20}/), state: 'returned', return: 'hi', retcode: 0 },
  })
  const failing = { tgt: 'web1', fun: 'test.raise_exception', arg: ['Exception', 'no luck'] } as const
  const { web1 } = await client.cmd(failing)
  expect(web1).toMatchObject({ state: 'failed', retcode: 1, return: expect.stringContaining('no luck') })
  const { web3 } = await client.cmd({ tgt: ['web1', 'web3'], tgtType: 'list', fun: 'test.ping' })
  expect(web3).toMatchObject({ state: 'missing', reason: expect.stringContaining('No accepted key') })
  expect(Object.keys(await client.cmd({ tgt: ['web1', 'web2'], fun: 'test.ping' })).sort()).toEqual([
    'web1',
    'web2',
  ])
  expect(await client.cmd({ tgt: 'nobody', fun: 'test.ping' })).toEqual({})
})

test('several functions have a map of results', async () => {
  const { web2 } = await client.cmd({ tgt: 'web2', fun: ['test.ping', 'test.echo'], arg: [[], ['x']] })
  expect(web2?.state === 'returned' && web2.return).toEqual({ 'test.ping': true, 'test.echo': 'x' })
})

test('cmdIter yields each result when it comes, and large ones whole', async () => {
  const seen: unknown[] = []
  for await (const result of client.cmdIter({ tgt: '*', fun: 'test.ping' }))
    seen.push([result.id, result.state])
  expect(seen.sort()).toEqual([
    ['web1', 'returned'],
    ['web2', 'returned'],
  ])
  const bus = await cluster.events()
  const events = bus.subscribe('salt/job/')
  const long = 'x'.repeat(10_000)
  for await (const result of client.cmdIter({ tgt: 'web1', fun: 'test.echo', arg: [long] }))
    expect(result).toMatchObject({ state: 'returned', return: long })
  for await (const { tag, data } of events)
    if (tag.endsWith('/ret/web1')) {
      expect(data.return).toBe('VALUE_TRIMMED')
      break
    }
  await bus.close()
  const printing = 'head -c 3000000 /dev/zero | tr "\\\\0" y'
  for await (const result of client.cmdIter({ tgt: 'web1', fun: 'cmd.run', arg: [printing] }))
    expect(result).toMatchObject({ state: 'returned', return: 'y'.repeat(3_000_000) })
  for await (const result of client.cmdIter({ tgt: 'web1', fun: untyped('cmd.retcode'), arg: ['exit 3'] }))
    expect(result).toMatchObject({ id: 'web1', return: 3 })
  for await (const _ of client.cmdIter({ tgt: 'nobody', fun: 'test.ping' }))
    throw new Error('nobody returned')
})

test('runs runners, reads events, and starts a job without waiting for it', async () => {
  expect(await client.run('manage.up')).toEqual(['web1', 'web2'])
  await expect(client.run('jobs.lookup_jid', { jid: '20200101000000000000' })).rejects.toMatchObject({
    code: 'RUN_FAILED',
    message: expect.stringContaining('There is no job 20200101000000000000'),
  })
  const events: HttpEvent[] = []
  const ended = new AbortController()
  const listening = (async () => {
    for await (const event of client.events('salt/job/*/new', ended.signal)) {
      events.push(event)
      return
    }
  })()
  while (events.length === 0) {
    const job = await client.cmdAsync({ tgt: 'web1', fun: 'test.ping' })
    expect(job).toEqual({ jid: expect.any(String), minions: ['web1'] })
  }
  await listening
  expect(events[0]).toMatchObject({
    tag: expect.stringMatching(/^salt\/job\/\d+\/new$/),
    data: { fun: 'test.ping' },
  })
  expect(await client.cmdAsync({ tgt: 'nobody', fun: 'test.ping' })).toBeUndefined()
})

test.each(['runner', 'wheel'])('the end of a %s function that does not exist is an event', async (kind) => {
  const headers = { 'X-Auth-Token': token, 'Content-Type': 'application/json' }
  const body = JSON.stringify([{ client: `${kind}_async`, fun: 'no.such' }])
  const events = client.events('salt/*/ret')
  const first = events.next()
  let event: HttpEvent | undefined
  void first.then(({ value }) => {
    event = value
  })
  await until('the event', async () => {
    await fetch(url, { method: 'POST', headers, body })
    return event !== undefined
  })
  expect(event?.data).toMatchObject({ success: false, return: "'no.such' is not available." })
  await events.return(undefined)
})

test('a refusal of the server is an HttpError with its sentence and status', async () => {
  const other = new HttpClient({ url: `${url}/` })
  await expect(other.login({ ...credentials, sharedsecret: 'guessed' })).rejects.toMatchObject({
    name: 'HttpError',
    status: 401,
  })
  await expect(other.cmd({ tgt: '*', fun: 'test.ping' })).rejects.toBeInstanceOf(HttpError)
  await expect(client.cmd({ tgt: '*', fun: untyped('test.pong') })).rejects.toThrow(
    "'test.pong' is not available",
  )
  await other.login(credentials)
  await other.logout()
  await expect(other.run('manage.up')).rejects.toMatchObject({ status: 401 })
})

test(
  'salt-api is killed: cmdIter still gives every result, and events say that they have ended',
  SLOW,
  async () => {
    const published = deferred()
    const watching = new HttpClient({
      url,
      token,
      async fetch(address, init) {
        const response = await fetch(address, init)
        if (init?.method === 'POST') published.resolve()
        return response
      },
    })
    const events = client.events('salt/job/*/new')
    const begun = events.next()
    const seen: unknown[] = []
    const following = (async () => {
      for await (const { id, state } of watching.cmdIter({ tgt: 'web*', fun: 'test.sleep', arg: [3] }))
        seen.push([id, state])
    })()
    await Promise.all([begun, published.promise])
    const child = treeOf(cluster.master.pid).find(({ command }) => command.includes('salt-api'))
    if (child === undefined) throw new Error('salt-api is no child of the master')
    process.kill(child.pid, 'SIGKILL')
    await expect(events.next()).rejects.toMatchObject({ name: 'HttpError', code: 'STREAM_ENDED' })
    await following
    expect(seen.sort()).toEqual([
      ['web1', 'returned'],
      ['web2', 'returned'],
    ])
  },
)

test('the signal of a request ends the waiting', async () => {
  const ended = new AbortController()
  const waiting = client.cmd({ tgt: 'web1', fun: 'test.sleep', arg: [30], signal: ended.signal })
  ended.abort(new Error('enough'))
  await expect(waiting).rejects.toThrow('enough')
})

test('its build imports neither modules of Node nor packages', async () => {
  const dist = fileURLToPath(new URL('../../dist/core/client/http/index.js', import.meta.url))
  const texts = new Map<string, string>()
  const read = async (file: string): Promise<void> => {
    if (texts.has(file)) return
    const text = await readFile(file, 'utf8')
    texts.set(file, text)
    const imports = [...text.matchAll(/(?:from|import)\s*\(?["']([^"']+)["']/g)].map(([, name = '']) => name)
    expect(imports.filter((name) => !name.startsWith('.'))).toEqual([])
    for (const name of imports) await read(join(dirname(file), name))
  }
  await read(dist)
  expect([...texts.values()].join('')).not.toMatch(/\b(process|Buffer|require)\b/)
})
