/** Runners and wheel functions that look at, or change, what the master's host has. */

import { createSocket } from 'node:dgram'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { rootCertificates } from 'node:tls'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type FakeMaster, run } from '../../../core/testing/index.ts'
import * as wheelConfig from '../../../plugins/wheel/config.ts'
import * as wheelError from '../../../plugins/wheel/error.ts'
import * as wheelMinions from '../../../plugins/wheel/minions.ts'
import * as auth from '../../../runners/auth.ts'
import * as cache from '../../../runners/cache.ts'
import * as config from '../../../runners/config.ts'
import * as doc from '../../../runners/doc.ts'
import * as error from '../../../runners/error.ts'
import * as http from '../../../runners/http.ts'
import * as manage from '../../../runners/manage.ts'
import * as match from '../../../runners/match.ts'
import * as mine from '../../../runners/mine.ts'
import * as network from '../../../runners/network.ts'
import * as salt from '../../../runners/salt.ts'
import * as survey from '../../../runners/survey.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { SLOW } from '../../harness/slow.ts'
import { eventually } from '../../harness/until.ts'

const given = async (tested: unknown, args: object | readonly unknown[] = [], master = {}, opts = {}) =>
  (await run(tested, args as readonly unknown[], { master, opts })).result

/** Gives these answers to every job, and notes down what was asked. */
function fleet(answers: Record<string, unknown>, asked: unknown[] = []): FakeMaster {
  return {
    async *run(request) {
      asked.push(request)
      for (const [id, value] of Object.entries(answers)) {
        yield value === undefined ? { id, return: undefined, missing: 'no' } : { id, return: value }
      }
    },
  }
}

describe('cache', () => {
  const facts = (id: string) => ({ grains: { id, os: 'Debian' }, pillar: { role: id } })

  function cached(...ids: string[]) {
    const values = new Map(ids.map((id) => [`minions/${id}`, facts(id) as Record<string, unknown>]))
    return {
      values,
      match: async () => ({ minions: [...ids, 'unheard'], unknown: [], missing: [] }),
      cache: {
        list: async () => ids,
        fetch: async (bank: string) => values.get(bank),
        store: async (bank: string, _: string, data: unknown) =>
          void values.set(bank, { ...values.get(bank), ...(data as object) }),
        flush: async (bank: string) => values.delete(bank),
      },
    }
  }

  test('returns cached grains and pillar of minions', async () => {
    expect(await given(cache.grains, ['*'], cached('a', 'b'))).toEqual({
      a: { id: 'a', os: 'Debian' },
      b: { id: 'b', os: 'Debian' },
    })
    expect(await given(cache.pillar, [], cached('a'))).toEqual({ a: { role: 'a' } })
  })

  test('clears the named data of the named minions', async () => {
    const store = cached('a')
    await expect(given(cache.clear_all, [], store)).rejects.toThrow("Give a target: tgt='*'")
    expect(await given(cache.clear_pillar, ['a'], store)).toBe(true)
    expect(store.values.get('minions/a')).toEqual({ grains: facts('a').grains, pillar: {} })
    expect(await given(cache.clear_all, ['a'], store)).toBe(true)
    expect(await given(cache.clear_all, ['a'], store)).toBe(false)
  })

  test('shows and clears mine data of minions', async () => {
    const values = new Map([['a', new Map([['test.ping', true]])]])
    const updated = '2026-11-26T10:00:00.000Z'
    const store = {
      ...cached('a'),
      mine: {
        get: async (ids: readonly string[], fun: unknown) => ({ ids, fun }),
        entries: async () => ({ a: { 'test.ping': { value: true, updated } } }),
        async remove(ids: readonly string[], names?: readonly string[]) {
          const gone = ids.flatMap((id) =>
            (names ?? ['test.ping']).filter((name) => values.get(id)?.delete(name)),
          )
          return gone.length
        },
      },
    }
    expect(await given(cache.mine, [], store)).toEqual({ a: { 'test.ping': true } })
    expect(await given(mine.list, [], store)).toEqual({ a: { 'test.ping': updated } })
    expect(await given(mine.get, ['*', 'test.ping'], store)).toEqual({
      ids: ['a', 'unheard'],
      fun: 'test.ping',
    })
    await expect(given(cache.clear_mine, [], store)).rejects.toThrow("Give a target: tgt='*'")
    expect(await given(cache.clear_mine_func, ['a', 'glob', 'other'], store)).toBe(false)
    expect(await given(cache.clear_mine_func, ['a', 'glob', 'test.ping'], store)).toBe(true)
    expect(await given(cache.clear_mine, ['a'], store)).toBe(false)
    expect(await given(mine.update, ['*'], fleet({ a: true, b: undefined }))).toEqual({ a: true })
  })

  test('stores values of the caller in banks', async () => {
    const { context } = await run(cache.store, ['fleet/web', 'seen', { n: 1 }], { master: {} })
    const master = { cache: context.master.cache }
    expect(await given(cache.list, ['fleet'], master)).toEqual(['web'])
    expect(await given(cache.fetch, ['fleet/web', 'seen'], master)).toEqual({ n: 1 })
    expect(await given(cache.fetch, ['fleet/web', 'other'], master)).toEqual({})
    expect(await given(cache.flush, ['fleet'], master)).toBe(true)
    expect(await given(cache.flush, ['fleet', 'web'], master)).toBe(false)
  })
})

describe('survey', () => {
  const answers = { a: 'one\ntwo', b: 'one\ntwo', c: 'one\n2', d: undefined }

  test('hash groups minions with the same return, largest group first or last', async () => {
    const asked: unknown[] = []
    expect(await given(survey.hash, ['*', 'cmd.run', 'ls'], fleet(answers, asked))).toEqual([
      { pool: ['a', 'b'], result: 'one\ntwo' },
      { pool: ['c'], result: 'one\n2' },
    ])
    expect(asked).toMatchObject([{ tgt: '*', tgtType: 'compound', fun: 'cmd.run', arg: ['ls'], kwarg: {} }])
    const up = { tgt: '*', fun: 'cmd.run', survey_sort: 'up' }
    expect(await given(survey.hash, up, fleet(answers))).toMatchObject([
      { pool: ['c'] },
      { pool: ['a', 'b'] },
    ])
    const maps = { a: { x: 1, y: 2 }, b: { y: 2, x: 1 } }
    expect(await given(survey.hash, ['*', 'grains.items'], fleet(maps))).toMatchObject([{ pool: ['a', 'b'] }])
  })

  test.each([
    ['a\nb\nc', 'a\nc', '@@ -2 +1,0 @@\n-b'],
    ['a\nc', 'a\nb\nc', '@@ -1,0 +2 @@\n+b'],
    ['a\nb\nc\nd', 'a\nX\nY\nd', '@@ -2,2 +2,2 @@\n-b\n-c\n+X\n+Y'],
    ['a\nb\nc', 'A\nb\nC', '@@ -1 +1 @@\n-a\n+A\n@@ -3 +3 @@\n-c\n+C'],
    ['', 'a', '@@ -1 +1 @@\n-\n+a'],
  ])('diff shows the change from %j to %j', async (from, to, hunks) => {
    const pools = { a: from, a2: from, b: to }
    expect(await given(survey.diff, ['*', 'cmd.run'], fleet(pools))).toEqual([
      { pool: ['a', 'a2'], result: from },
      { pool: ['b'], diff: `--- a\n+++ b\n${hunks}` },
    ])
  })

  test('without returns there are no pools', async () => {
    expect(await given(survey.diff, ['*', 'cmd.run'], fleet({}))).toEqual([])
  })
})

describe('http.query', () => {
  const seen: { method?: string | undefined; url?: string | undefined; body: string; headers: object }[] = []
  let server: Server
  let address: string
  beforeAll(async () => {
    server = createServer(async (request, response) => {
      let body = ''
      for await (const part of request) body += part
      seen.push({ method: request.method, url: request.url, body, headers: request.headers })
      if (request.url === '/hangs') return
      response.writeHead(request.url === '/gone' ? 404 : 200, { 'x-own': 'yes' })
      response.end('{"a": 1}')
    })
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  test('returns the body, and the requested fields', async () => {
    expect(await given(http.query, [address])).toEqual({ body: '{"a": 1}' })
    const wanted = { url: `${address}/x`, params: { q: 'a b' }, status: true, headers: true, decode: true }
    expect(await given(http.query, wanted)).toMatchObject({
      body: '{"a": 1}',
      dict: { a: 1 },
      status: 200,
      headers: { 'X-Own': 'yes' },
    })
    expect(seen.at(-1)).toMatchObject({ method: 'GET', url: '/x?q=a+b' })
    expect(await given(http.query, [`${address}/gone`])).toEqual({
      body: '{"a": 1}',
      status: 404,
      error: 'HTTP 404: Not Found',
    })
  })

  test('sends data and credentials', async () => {
    const wanted = { url: address, method: 'POST', data: { b: 2 }, username: 'ann', password: 'pw' }
    await given(http.query, wanted)
    expect(seen.at(-1)).toMatchObject({
      method: 'POST',
      body: 'b=2',
      headers: { authorization: `Basic ${Buffer.from('ann:pw').toString('base64')}` },
    })
  })

  test('ends at its limits, and refuses an invalid address', SLOW, async () => {
    await expect(given(http.query, { url: address, max_body: 3 })).rejects.toThrow('more than 3 bytes')
    await expect(given(http.query, { url: `${address}/hangs`, timeout: 0.1 })).rejects.toThrow(
      'no complete response within 0.1 s',
    )
    await expect(given(http.query, ['file:///etc/passwd'])).rejects.toThrow('begins with http:// or https://')
    await expect(given(http.query, ['http://a:b@c/'])).rejects.toThrow('which logs would show')
    await expect(given(http.query, ['http://127.0.0.1:1/'])).rejects.toThrow('127.0.0.1:1 did not answer')
  })
})

describe('http.update_ca_bundle', () => {
  const first = rootCertificates[0] as string
  const second = rootCertificates[1] as string
  let folder: string
  let target: string
  let server: Server
  let source: string
  let has: string
  beforeEach(async () => {
    folder = await temporaryFolder('salt-ts-ca-')
    target = join(folder, 'cacert.pem')
    await writeFile(join(folder, 'own.pem'), second)
    has = `# Authorities\n${first}\n`
    server = createServer((request, response) => response.writeHead(request.url === '/' ? 200 : 404).end(has))
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    source = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  })
  afterEach(async () => {
    server.close()
    await removeFolder(folder)
  })

  test('writes the certificates of the server, followed by local files', async () => {
    const own = join(folder, 'own.pem')
    expect(await given(http.update_ca_bundle, { target, source, merge_files: own })).toBe(target)
    expect(await readFile(target, 'utf8')).toBe(`${has}\n${second}`)
    const opts = { ca_bundle: join(folder, 'other.pem'), ca_bundle_url: source, root_dir: '/' }
    expect(await given(http.update_ca_bundle, [], {}, opts)).toBe(join(folder, 'other.pem'))
    await expect(given(http.update_ca_bundle)).rejects.toThrow('No file is given')
  })

  test('leaves the file unchanged if the server sends anything else', async () => {
    await writeFile(target, 'before')
    const failing = async (wanted: object, sentence: string) => {
      await expect(given(http.update_ca_bundle, { target, source, ...wanted })).rejects.toThrow(sentence)
      expect(await readFile(target, 'utf8')).toBe('before')
    }
    await failing({ source: `${source}gone` }, 'HTTP 404')
    await failing({ merge_files: [join(folder, 'none.pem')] }, 'none.pem cannot be read: ENOENT')
    await failing({ target: join(folder, 'no/such.pem') }, 'no/such.pem cannot be written: ENOENT')
    has = '<html>Please log in</html>'
    await failing({}, 'has no certificate in it')
    has = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
    await failing({}, 'Certificate 1 of')
    expect((await readdir(folder)).sort()).toEqual(['cacert.pem', 'own.pem'])
  })
})

test('auth.mk_token passes all credentials to the master; auth.del_token deletes a token', async () => {
  const asked: unknown[] = []
  const tokens = {
    make: async (credentials: object) => asked.push(credentials) && { token: 'abc' },
    remove: async (token: string) => asked.push(token) > 0,
  }
  const wanted = { eauth: 'pam', username: 'ann', password: 'pw', otp: 123456, __pub_user: 'root' }
  expect(await given(auth.mk_token, wanted, { tokens })).toEqual({ token: 'abc' })
  expect(await given(auth.del_token, ['abc'], { tokens })).toBe(true)
  expect(asked).toEqual([{ eauth: 'pam', username: 'ann', password: 'pw', otp: 123456 }, 'abc'])
})

test('functions that need salt-ssh are refused with an alternative', async () => {
  await expect(given(manage.bootstrap, { hosts: 'web1', version: 'stable' })).rejects.toThrow(
    /salt-ssh, which salt-ts does not have yet\. .* salt-key --invite/,
  )
  await expect(given(manage.safe_accept, { target: 'web*' })).rejects.toThrow(
    /salt-ssh to ask for them\. .* salt-key --invite/,
  )
})

test('manage.safe_accept accepts pending keys with the given fingerprint, and no others', async () => {
  const finger = (byte: string) => Array(32).fill(byte).join(':')
  const asked: unknown[] = []
  const keys = {
    finger: async (_: string, hash: string) => {
      asked.push(hash)
      return {
        minions: { old: finger('0d') },
        minions_pre: { web1: finger('a1'), web2: finger('a2'), db1: finger('d1') },
      }
    },
    acceptDict: async (lists: unknown) => asked.push(lists),
  }
  const fingers = {
    web1: 'A1'.repeat(32),
    web2: finger('ff'),
    db1: finger('d1'),
    old: finger('0d'),
    none: finger('00'),
    bad: 'ab:cd',
  }
  const outcome = await given(manage.safe_accept, { target: '[!d]*', fingers }, { keys })
  const [accepted, failures] = outcome as [object, object]
  expect(accepted).toEqual({ web1: fingers.web1 })
  expect(failures).toEqual({
    web2: `The pending key of web2 has the fingerprint ${finger('a2')}, not ${finger('ff')}. It may be somebody else's.`,
    old: 'The key of old is accepted already.',
    none: 'There is no pending key of none.',
    bad: expect.stringContaining("'ab:cd' is not a fingerprint."),
  })
  expect(asked).toEqual([...Array(4).fill('sha256'), { minions_pre: ['web1'] }])
  const wanted = { target: 'db1,x', tgt_type: 'list', fingers }
  expect(await given(manage.safe_accept, wanted, { keys })).toEqual([{ db1: finger('d1') }, {}])
})

test('network wakes one computer, those listed in a file, and those of minions', async () => {
  const folder = await temporaryFolder()
  const heard: Buffer[] = []
  const socket = createSocket('udp4', (packet) => heard.push(packet))
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  const to = { bcast: '127.0.0.1', destport: socket.address().port }
  const list = join(folder, 'computers')
  await writeFile(list, '08-00-27-13-69-77\n\n080027136978\n')
  expect(await given(network.wol, { mac: '08:00:27:13:69:76', ...to })).toBe(true)
  expect(await given(network.wollist, { maclist: list, ...to })).toEqual([
    '08-00-27-13-69-77',
    '080027136978',
  ])
  const services = {
    match: async () => ({ minions: ['a', 'b'], unknown: [], missing: [] }),
    cachedGrains: async (id: string) =>
      id === 'a' ? { hwaddr_interfaces: { lo: '00:00:00:00:00:00', eth0: '08:00:27:13:69:79' } } : undefined,
  }
  expect(await given(network.wolmatch, { tgt: '*', ...to }, services)).toEqual(['08:00:27:13:69:79'])
  await eventually(() => expect(heard).toHaveLength(4))
  socket.close()
  const packet = (mac: string) => Buffer.from(`ffffffffffff${mac.repeat(16)}`, 'hex')
  expect(heard).toEqual(['6', '7', '8', '9'].map((digit) => packet(`08002713697${digit}`)))
  await expect(given(network.wol, { mac: 'x', ...to })).rejects.toThrow("Invalid MAC address: 'x'")
  await expect(given(network.wollist, { maclist: join(folder, 'none'), ...to })).rejects.toThrow(
    /^Cannot read the list of hardware addresses .*none: ENOENT$/,
  )
  await removeFolder(folder)
})

test('salt.cmd runs a function here, salt.execute on minions', async () => {
  const call = async (fun: string, args: unknown, kwargs: unknown) => [fun, args, kwargs]
  expect(await given(salt.cmd, ['test.arg', 1, 2], { call })).toEqual(['test.arg', [1, 2], {}])
  const asked: unknown[] = []
  const wanted = { tgt: 'a*', fun: 'test.arg', arg: 'x', timeout: 5, kwarg: { y: 1 } }
  expect(await given(salt.execute, wanted, fleet({ a: 1, b: undefined }, asked))).toEqual({ a: 1 })
  expect(asked).toMatchObject([
    { tgt: 'a*', tgtType: 'glob', fun: 'test.arg', arg: ['x'], kwarg: { y: 1 }, timeout: 5 },
  ])
})

test('match.target returns the minions of a target', async () => {
  const found = { minions: ['a'], unknown: ['b'], missing: [] }
  const asked: unknown[] = []
  const services = { match: async (...target: unknown[]) => asked.push(target) && found }
  expect(await given(match.target, ['G@os:Debian'], services)).toEqual(found)
  expect(asked).toEqual([['G@os:Debian', 'compound', { delimiter: ':' }]])
})

test('config.get reads nested values, and shows no secrets', async () => {
  const opts = { file_roots: { base: ['/srv'] }, mysql: { password: 'hunter2' } }
  expect(await given(config.get, ['file_roots:base'], {}, opts)).toEqual(['/srv'])
  expect(await given(config.get, ['no:such', 'else'], {}, opts)).toBe('else')
  expect(JSON.stringify(await given(config.get, ['mysql'], {}, opts))).not.toContain('hunter2')
  expect(JSON.stringify(await given(wheelConfig.values, [], {}, opts))).not.toContain('hunter2')
})

test('doc.runner and doc.wheel return a text for each function; doc.execution asks the minions', async () => {
  const runners = (await given(doc.runner)) as Record<string, string>
  expect(runners['jobs.active']).toContain('List the running jobs')
  expect(Object.entries(runners).filter(([, text]) => !text)).toEqual([])
  const wheel = (await given(doc.wheel)) as Record<string, string>
  expect(wheel['minions.connected']).toContain('connected')
  expect(Object.entries(wheel).filter(([, text]) => !text)).toEqual([])
  const answers = { a: { 'b.c': 'Two.', 'a.b': 'One.' }, b: 'broken' }
  expect(Object.entries((await given(doc.execution, [], fleet(answers))) as object)).toEqual([
    ['a.b', 'One.'],
    ['b.c', 'Two.'],
  ])
})

test.each([
  ['runner', error],
  ['wheel function', wheelError],
])('the %s error.error fails with the given error', async (_, { error }) => {
  expect(await given(error)).toEqual({})
  await expect(given(error, ['CommandExecutionError', 'It broke.'])).rejects.toThrow('It broke.')
  await expect(given(error, ['ValueError', 'x'])).rejects.toMatchObject({ name: 'ValueError', message: 'x' })
})

test('wheel functions list connected minions, and write options', async () => {
  expect(await given(wheelMinions.connected, [], { connectedIds: async () => ['b', 'a'] })).toEqual([
    'a',
    'b',
  ])
  const written: unknown[] = []
  const writeConfig = async (...options: unknown[]) => `${written.push(options)}`
  await given(wheelConfig.apply, ['timeout', 9], { writeConfig })
  expect(await given(wheelConfig.update_config, ['gui', { timeout: 9 }], { writeConfig })).toBe(
    'Wrote gui.conf',
  )
  expect(written).toEqual([
    ['zz_wheel', { timeout: 9 }, { keep: true }],
    ['gui', { timeout: 9 }],
  ])
})
