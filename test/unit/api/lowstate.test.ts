/** Commands over HTTP, with a master that the test plays (wire protocol §8). */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { tags } from '../../../core/events/index.ts'
import { SLOW } from '../../harness/slow.ts'
import { openTestApi, type TestApi } from '../../harness/test-api.ts'

const JID = '20261122010203000004'
const TOKEN = 'ab12'

type Load = Readonly<Record<string, unknown>>

let api: TestApi

beforeEach(async () => {
  api = await openTestApi()
  api.answer = master
})
afterEach(() => api.close())

/** A master that publishes to m1 and m2, which return at once, and runs every runner and wheel function. */
function master(load: Load): unknown {
  if (load.cmd === 'publish') {
    if (load.tgt === 'nobody') return { enc: 'clear', load: { jid: null, minions: [], error: 'none' } }
    return { enc: 'clear', load: { ...publishedTo(['m1', 'm2'], load), missing: [] } }
  }
  if (load.cmd === 'runner') {
    const data = { fun: `runner.${load.fun}`, jid: JID, user: 'alice', return: load.kwarg, success: true }
    api.fire(tags.runReturn(JID), data)
    return { tag: tags.run(JID), jid: JID }
  }
  const data = { fun: `wheel.${load.fun}`, jid: JID, user: 'alice', return: load.kwarg, success: true }
  return { tag: tags.wheel(JID), data }
}

/** Minions that return at once. */
function publishedTo(minions: readonly string[], { fun, arg }: Load) {
  for (const id of minions)
    api.fire(tags.jobReturn(JID, id), {
      id,
      jid: JID,
      fun,
      return: { arg },
      retcode: 0,
      success: true,
    })
  return { jid: JID, minions }
}

const post = (body: unknown, { url = '/', headers = {} }: { url?: string; headers?: object } = {}) =>
  api.app.inject({
    method: 'POST',
    url,
    headers: { 'x-auth-token': TOKEN, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })

const refused = async (body: unknown, options = {}) => {
  const answer = await post(body, options)
  return [answer.statusCode, answer.json().return]
}

const ping = { client: 'local', tgt: '*', fun: 'test.ping' }

describe('several functions', () => {
  const several = { client: 'local', tgt: '*', fun: ['test.arg', 'test.echo'] }
  test.each([
    [{ arg: [['a'], []] }, [['a'], []]],
    [{ arg: [['a'], []], kwarg: { x: 1 } }, [['a', { __kwarg__: true, x: 1 }], [{ __kwarg__: true, x: 1 }]]],
    [{ kwarg: { x: 1 } }, [[{ __kwarg__: true, x: 1 }], [{ __kwarg__: true, x: 1 }]]],
  ])('each have a list of arguments, and keywords apply to each: %j', SLOW, async (members, arg) => {
    expect((await post({ ...several, ...members })).statusCode).toBe(200)
    expect(api.asked.at(-1)).toMatchObject({ cmd: 'publish', arg })
  })

  test.each([[['a']], [[['a']]], [[['a'], 'b']]])('with other arguments are refused: %j', async (arg) => {
    expect(await refused({ ...several, arg, kwarg: { x: 1 } })).toEqual([
      400,
      'arg must have a list for each of the 2 functions, as [["a"], []]. No command was sent.',
    ])
    expect(api.asked).toEqual([])
  })
})

test('several functions in one text are refused, with the correct form', async () => {
  expect(await refused({ client: 'local', tgt: '*', fun: 'test.ping,test.arg' })).toEqual([
    400,
    'Chunk 1 of the request has several functions in one text, "test.ping,test.arg": make them a list, as ["test.ping", "test.arg"].',
  ])
  expect(api.asked).toEqual([])
})

test.each([
  [{ client: 'local', fun: 'test.ping' }, "Chunk 1 of the request lacks 'tgt'."],
  [{ client: 'local', tgt: '*' }, "Chunk 1 of the request lacks 'fun'."],
])('a chunk without a required member is refused: %j', async (chunk, sentence) => {
  expect(await refused(chunk)).toEqual([400, sentence])
})

test('/stats counts the bytes of requests and answers', SLOW, async () => {
  await api.close()
  api = await openTestApi({}, { collect_stats: true, stats_disable_auth: true })
  api.answer = master
  const url = await api.app.listen({ host: '127.0.0.1', port: 0 })
  const body = JSON.stringify([ping])
  const headers = { 'x-auth-token': TOKEN, 'content-type': 'application/json' }
  await (await fetch(url, { method: 'POST', headers, body })).text()
  const answer = (await (await fetch(`${url}/stats`)).json()) as {
    'CherryPy Applications': Record<string, number>
  }
  const figures = answer['CherryPy Applications']
  expect(figures['Total Bytes Read']).toBeGreaterThan(body.length)
  expect(figures['Total Bytes Written']).toBeGreaterThan(0)
})

test.each(['/jobs/%ff', '/%zz', '/minions/%c3%28'])(
  '%s, a path that cannot be decoded, is answered like other unknown paths',
  async (url) => {
    const answer = await api.app.inject({ url })
    expect([answer.statusCode, answer.json()]).toEqual([
      400,
      { status: 400, return: expect.stringContaining('The path of the request cannot be read') },
    ])
    expect(answer.body).toMatch(/^\{"status": 400, "return": /)
    expect(answer.headers).toMatchObject({ 'content-type': 'application/json', 'cache-control': 'no-store' })
  },
)

describe('a lowstate', () => {
  test('can have the job delivered later to minions that are down', async () => {
    api.answer = (load: Load) => ({
      load: { ...publishedTo(['m1', 'm2'], load), missing: [], deliver_until: 2e9, waiting: ['m2'] },
    })
    const later = { ...ping, client: 'local_async', deliver_within: '60' }
    expect((await post(later)).json()).toEqual({
      return: [{ jid: JID, minions: ['m1', 'm2'], waiting: ['m2'] }],
    })
    expect(api.asked.at(-1)).toMatchObject({ cmd: 'publish', deliver_within: 60 })
  })

  test('is one chunk or several, and each gives an item', async () => {
    const both = { m1: { arg: [] }, m2: { arg: [] } }
    expect((await post([ping, { ...ping, client: 'local_async' }])).json()).toEqual({
      return: [both, { jid: JID, minions: ['m1', 'm2'] }],
    })
    expect((await post(ping)).json()).toEqual({ return: [both] })
    expect((await post([])).json()).toEqual({ return: [] })
    expect(api.asked[0]).toMatchObject({
      cmd: 'publish',
      tgt: '*',
      tgt_type: 'glob',
      kwargs: { token: TOKEN },
    })
  })

  test('keeps the type of numbers, in JSON and in YAML, in both directions', SLOW, async () => {
    const numbers = '[1, 3.0, 9223372036854775807, -0.0, 1e2]'
    const body = `[{"client":"local","tgt":"*","fun":"test.arg","arg":${numbers},"timeout":5.0}]`
    expect((await post(body)).body).toContain('{"m1": {"arg": [1, 3.0, 9223372036854775807, -0.0, 100.0]}')
    expect(api.asked[0]).toMatchObject({ timeout: 5 })
    const yaml = '- {client: local, tgt: "*", fun: test.arg, arg: [1, 3.0, 9223372036854775807]}'
    const answer = await post(yaml, { headers: { 'content-type': 'application/x-yaml' } })
    expect(answer.body).toContain('{"m1": {"arg": [1, 3.0, 9223372036854775807]}')
  })

  test('may be a form, whose arguments are parsed as words of a command line', async () => {
    const body =
      'client=local&tgt=*&fun=test.arg&arg=1&arg=a%3D2.0&arg=[x, 3]&kwarg={b: 1}&timeout=7&full_return=true'
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const { m1 } = (await post(body, { headers })).json().return[0]
    expect(m1).toEqual({
      ret: { arg: [1, 'a=2.0', ['x', 3], { __kwarg__: true, b: 1 }] },
      retcode: 0,
      jid: JID,
    })
    expect(api.asked[0]).toMatchObject({ timeout: 7 })
    await post('client=local&tgt=m1&tgt=m2&tgt_type=list&fun=test.ping&arg=one', { headers })
    expect(api.asked[1]).toMatchObject({ tgt: ['m1', 'm2'], arg: ['one'] })
  })

  test('may be JSON with the content type text/plain', async () => {
    const answer = await post([ping], { headers: { 'content-type': 'text/plain' } })
    expect(answer.statusCode).toBe(200)
  })

  test('that is invalid is refused with a sentence', async () => {
    expect(await refused('"x"')).toEqual([400, 'Lowstates must be a list.'])
    expect(await refused('')).toEqual([400, 'Lowstates must be a list.'])
    expect(await refused('["x"]')).toEqual([400, 'Chunk 1 of the request must be a map.'])
    expect((await refused('{'))[1]).toMatch(/^Invalid JSON document: /)
    expect((await refused('a: [', { headers: { 'content-type': 'text/yaml' } }))[1]).toMatch(/^Invalid YAML/)
    expect(await refused('x', { headers: { 'content-type': 'image/png' } })).toEqual([
      406,
      expect.stringMatching(/^Content type not supported/),
    ])
    expect(await refused(Array(101).fill(ping))).toEqual([
      400,
      'A request may have at most 100 maps (max_chunks).',
    ])
    expect(api.asked).toEqual([])
  })
})

describe('a chunk', () => {
  test('is sent to the master as pepper sends it', async () => {
    await post([{ ...ping, tgt: 'm1,m2', expr_form: 'list', batch: null, arg: [] }])
    expect(api.asked[0]).toMatchObject({ tgt: ['m1', 'm2'], tgt_type: 'list' })
    await post([{ client: 'runner', fun: 'jobs.lookup_jid', k: 'v', args: ['x'] }])
    expect(api.asked[1]).toMatchObject({ cmd: 'runner', kwarg: { arg: ['x'], kwarg: { k: 'v' } } })
  })

  test('of a runner has arguments in arg, kwarg, and beside them', async () => {
    const chunk = {
      client: 'runner',
      fun: 'test.arg',
      arg: ['a', 'b=1'],
      kwarg: { c: 3 },
      d: null,
      timeout: 9,
    }
    expect((await post(chunk)).json().return).toEqual([{ arg: ['a'], kwarg: { b: 1, c: 3, d: null } }])
    const full = await post({ ...chunk, full_return: true })
    expect(full.json().return[0]).toMatchObject({
      tag: tags.runReturn(JID),
      data: { fun: 'runner.test.arg' },
    })
    expect((await post({ ...chunk, client: 'runner_async' })).json().return).toEqual([
      { tag: tags.run(JID), jid: JID },
    ])
  })

  test('of the wheel returns the event of its end', async () => {
    const chunk = { client: 'wheel', fun: 'key.finger', match: 'm1' }
    expect((await post(chunk)).json().return).toEqual([
      { tag: tags.wheel(JID), data: expect.objectContaining({ jid: JID, return: { match: 'm1' } }) },
    ])
    expect((await post({ ...chunk, client: 'wheel_async' })).json().return).toEqual([
      { tag: tags.wheel(JID), jid: JID },
    ])
  })

  test('that matches no minion returns an empty result, as in Salt', async () => {
    const nobody = { ...ping, tgt: 'nobody' }
    expect((await post([nobody, { ...nobody, client: 'local_async' }])).json()).toEqual({ return: [{}, {}] })
  })

  test('with full_return lists minions that did not return, and why, with the members of Salt', async () => {
    api.answer = (load: Load) => ({ load: { ...publishedTo(['m1'], load), missing: ['m9'] } })
    const chunk = { ...ping, tgt: ['m1', 'm9'], tgt_type: 'list' }
    const why = expect.stringMatching(/^Minion did not return\. \[No accepted key\]/)
    const m9 = { ret: why, out: 'no_return', retcode: 1, jid: JID, failed: true, state: 'key_not_accepted' }
    expect((await post({ ...chunk, full_return: true })).json().return).toEqual([
      { m1: { ret: { arg: [] }, retcode: 0, jid: JID }, m9 },
    ])
    expect((await post(chunk)).json().return).toEqual([{ m1: { arg: [] }, m9: why }])
  })

  test('is refused if its client does not exist or is not enabled', async () => {
    expect(await refused([{ ...ping, client: 'nosuch' }])).toEqual([
      400,
      "Invalid client specified: 'nosuch'",
    ])
    expect(await refused([{ fun: 'test.ping', tgt: '*' }])).toEqual([400, "Invalid client specified: 'None'"])
    expect(await refused([{ ...ping, client: 'constructor' }])).toEqual([
      400,
      "Invalid client specified: 'constructor'",
    ])
    expect((await refused([{ ...ping, client: 'ssh' }]))[1]).toMatch(/^The client 'ssh' is not supported/)
    await api.close()
    api = await openTestApi({ netapi_enable_clients: [] })
    expect(await refused([ping])).toEqual([
      400,
      "Client disabled: 'local'. Add to 'netapi_enable_clients' master config option to enable.",
    ])
  })

  test.each([
    [{ tgt: 5 }, 'tgt of chunk 1 of the request must be a string or an array.'],
    [{ timeout: 'soon' }, 'timeout of chunk 1 of the request must be a number.'],
    [{ timeout: -1 }, 'timeout of chunk 1 of the request must be at least 0.'],
    [{ kwarg: ['x'] }, 'kwarg of chunk 1 of the request must be an object.'],
    [{ fun: {} }, 'fun of chunk 1 of the request must be a string or an array.'],
    [{ fun: [] }, 'fun of chunk 1 of the request must have at least 1 item.'],
    [{ fun: ['test.ping', 5] }, 'fun:1 of chunk 1 of the request must be a string.'],
    [{ ret: { http: 1 } }, 'ret of chunk 1 of the request must be a string or an array.'],
    [{ token: 5 }, 'token of chunk 1 of the request must be a string.'],
    [{ tgt_typ: 'list' }, /'tgt_typ', which is not known. Did you mean 'tgt_type'\?$/],
    [{ batch: '10%' }, /^'batch' needs the client 'local_batch'/],
    [{ raw_shell: true }, /^Raw shell option not allowed/],
  ])('%j is refused before anything is sent', async (member, sentence) => {
    const said = (await refused([{ ...ping, ...member }]))[1]
    if (typeof sentence === 'string') expect(said).toBe(sentence)
    else expect(said).toMatch(sentence)
    expect(api.asked).toEqual([])
  })

  test.each([
    '[{"client":"local","tgt":"*","fun":"test.arg","kwarg":{"__proto__":{"x":1}}}]',
    '[{"__proto__":{"client":"local"},"tgt":"*","fun":"test.ping"}]',
    '[{"client":"local","tgt":"*","fun":"test.arg","arg":[{"constructor":{"prototype":{"x":1}}}]}]',
  ])('%s would be read as other values and is refused', async (body) => {
    expect((await refused(body))[0]).toBe(400)
    const yaml = { headers: { 'content-type': 'text/yaml' } }
    expect((await refused(body, yaml))[0]).toBe(400)
    expect(api.asked).toEqual([])
  })

  test('that is nested too deep, or grows by its aliases, is refused', async () => {
    const deep = `${'['.repeat(60)}${']'.repeat(60)}`
    expect(await refused(deep)).toEqual([400, 'It is nested more than 50 levels deep.'])
    expect((await refused('['.repeat(400_000)))[0]).toBe(400)
    const lines = Array.from(
      { length: 9 },
      (_, n) => `a${n + 1}: &a${n + 1} [${Array(9).fill(`*a${n}`).join(', ')}]`,
    )
    const bomb = `a0: &a0 [${Array(9).fill('lol').join(', ')}]\n${lines.join('\n')}\n`
    expect((await refused(bomb, { headers: { 'content-type': 'text/yaml' } }))[0]).toBe(400)
    const long = `a: &a ${'x'.repeat(90_000)}\nb: [${Array(90).fill('*a').join(', ')}]\n`
    expect((await refused(long, { headers: { 'content-type': 'text/yaml' } }))[0]).toBe(413)
  })

  test('that fails fails the request: those after it are not run', async () => {
    expect((await refused([ping, { ...ping, client: 'nosuch' }, ping]))[0]).toBe(400)
    expect(api.asked).toHaveLength(1)
  })
})

describe('the credentials', () => {
  test('are a token for /, in a header or a cookie', async () => {
    const cookie = { headers: { 'x-auth-token': '', cookie: `a=b; session_id=${TOKEN}` } }
    expect((await post([ping], cookie)).statusCode).toBe(200)
    expect(await refused([ping], { headers: { 'x-auth-token': '' } })).toEqual([
      401,
      'No authentication credentials given',
    ])
    expect(await refused([ping], { headers: { 'x-auth-token': 'not hex' } })).toEqual([401, 'Invalid token'])
    const credentials = { eauth: 'pam', username: 'alice', password: 'x' }
    expect((await refused([{ ...ping, ...credentials }], { headers: { 'x-auth-token': '' } }))[0]).toBe(401)
  })

  test('cannot be the cookie in a request of a page of another site', async () => {
    const cookie = `session_id=${TOKEN}`
    const from = (headers: object) => refused([ping], { headers: { 'x-auth-token': '', cookie, ...headers } })
    expect(await from({ origin: 'http://evil.example' })).toEqual([
      403,
      'Pages of http://evil.example may not use a session of this server (cors_origin).',
    ])
    expect((await from({ 'sec-fetch-site': 'cross-site' }))[0]).toBe(403)
    expect((await from({ origin: 'http://localhost:8000', host: 'localhost:8000' }))[0]).toBe(200)
  })

  test('are in each chunk for /run, or in the header for chunks without', async () => {
    const run = { url: '/run' }
    const without = { ...run, headers: { 'x-auth-token': '' } }
    expect(await refused([ping], without)).toEqual([401, 'No authentication credentials given'])
    expect(await refused([{ ...ping, token: 'zz' }], run)).toEqual([401, 'Invalid token'])
    expect(await refused([ping], { ...run, headers: { 'x-auth-token': 'zz' } })).toEqual([
      401,
      'Invalid token',
    ])
    await post(
      [{ ...ping, token: 'cd' }, { ...ping, eauth: 'pam', username: 'alice', password: 'x' }, ping],
      run,
    )
    expect(api.asked.map(({ kwargs }) => kwargs)).toMatchObject([
      { token: 'cd' },
      { eauth: 'pam', username: 'alice', password: 'x' },
      { token: TOKEN },
    ])
    expect(api.asked[1]).not.toHaveProperty('kwargs.token')
    api.asked.length = 2
    await post(
      [{ client: 'runner', fun: 'test.arg', eauth: 'pam', username: 'alice', password: 'x', key: 'k' }],
      run,
    )
    expect(api.asked[2]).toEqual({
      cmd: 'runner',
      fun: 'test.arg',
      kwarg: { arg: [], kwarg: {} },
      eauth: 'pam',
      username: 'alice',
      password: 'x',
    })
  })

  test('cannot be such a cookie for /run either', async () => {
    const headers = { 'x-auth-token': '', cookie: `session_id=${TOKEN}`, origin: 'http://evil.example' }
    expect((await refused([ping], { url: '/run', headers }))[0]).toBe(403)
    const own = { ...ping, eauth: 'pam', username: 'alice', password: 'x' }
    expect((await refused([own], { url: '/run', headers }))[0]).toBe(200)
  })

  test('that are wrong or not allowed are refused in the words of the master, with the rule', async () => {
    api.answer = () => ({ error: { name: 'AuthenticationError', message: 'Authentication error occurred.' } })
    const unknown = await post([ping])
    expect([unknown.statusCode, unknown.headers['www-authenticate']]).toEqual([401, 'Session'])
    expect(unknown.json()).toEqual({ status: 401, return: 'Authentication error occurred.' })
    const reason = 'test.ping is not allowed to alice: no entry of external_auth.pam.alice has it.'
    const message = 'Authorization error occurred.'
    const why = { denied: true, reason, rule: 'external_auth.pam.alice' }
    api.answer = () => ({ error: { name: 'AuthorizationError', message, ...why } })
    const denied = {
      status: 403,
      return: `Authorization error occurred. ${reason}`,
      rule: 'external_auth.pam.alice',
    }
    expect((await post([ping])).json()).toEqual(denied)
    api.answer = () => ({ error: { name: 'TokenAuthenticationError', message }, ...why })
    expect((await post([{ client: 'runner', fun: 'manage.up' }])).json()).toEqual(denied)
    expect((await post([{ client: 'wheel', fun: 'key.list_all' }])).json()).toEqual(denied)
  })
})

test.each(['local', 'local_async', 'local_batch', 'local_subset'])(
  'a list as target is a list of ids for %s, unless a type says otherwise',
  async (client) => {
    const targets = () =>
      api.asked.filter(({ tgt }) => tgt !== undefined).map(({ tgt, tgt_type }) => [tgt, tgt_type])
    await post({ client, tgt: ['m1', 'm2'], fun: 'test.ping', gather_job_timeout: 0 })
    expect(targets()[0]).toEqual([['m1', 'm2'], 'list'])
    api.asked.length = 0
    await post({
      client,
      tgt: ['m1', 'or', 'm2'],
      tgt_type: 'compound',
      fun: 'test.ping',
      gather_job_timeout: 0,
    })
    expect(targets()[0]).toEqual([['m1', 'or', 'm2'], 'compound'])
  },
)

test('a runner that does not exist is answered with 400, one that times out with 504', async () => {
  api.answer = () => {
    const data = { fun: 'nosuch.fun', jid: JID, return: "'nosuch.fun' is not available.", success: false }
    api.fire(tags.runReturn(JID), { ...data, retcode: 254 })
    return { tag: tags.run(JID), jid: JID }
  }
  const runner = { client: 'runner', fun: 'nosuch.fun' }
  expect(await refused([runner])).toEqual([400, "'nosuch.fun' is not available."])
  api.answer = () => ({ tag: tags.run(JID), jid: JID })
  expect(await refused([{ ...runner, timeout: 0.05 }])).toEqual([
    504,
    `The runner nosuch.fun is still running after 0.05 s. It continues to run; find its result at /jobs/${JID}.`,
  ])
})

test('bytes are read as text, and HTML is escaped', async () => {
  api.answer = (load) => ({
    tag: tags.wheel(JID),
    data: {
      fun: load.fun,
      return: [new Uint8Array([104, 105]), new Uint8Array([255]), '<b>'],
      success: true,
    },
  })
  const wheel = { client: 'wheel', fun: 'x.y' }
  expect((await post(wheel)).json().return[0].data.return).toEqual(['hi', '\ufffd', '<b>'])
  const html = await post(wheel, { headers: { accept: 'text/html' } })
  expect(html.body).toContain('&lt;b&gt;')
  expect((await post(wheel, { headers: { accept: 'text/yaml' } })).body).toContain('- hi\n')
})
