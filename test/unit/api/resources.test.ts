/** `/minions`, `/jobs` and `/keys`, with a master that the test plays. */
import { spawnSync } from 'node:child_process'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { tags } from '../../../core/events/index.ts'
import { SLOW } from '../../harness/slow.ts'
import { openTestApi, type TestApi } from '../../harness/test-api.ts'

const JID = '20261122010203000004'
const headers = { 'x-auth-token': 'ab12' }

type Load = Readonly<Record<string, unknown>>

let api: TestApi
/** Returns of functions of the master. */
let gives: { return: unknown; success: boolean }

beforeEach(async () => {
  api = await openTestApi()
  api.answer = ({ cmd, fun }: Load) => {
    if (cmd === 'publish') {
      api.fire(tags.jobReturn(JID, 'm1'), {
        id: 'm1',
        jid: JID,
        fun,
        return: { os: 'x' },
        retcode: 0,
      })
      return { load: { jid: JID, minions: ['m1'], missing: [] } }
    }
    if (cmd === 'runner') api.fire(tags.runReturn(JID), { fun: `runner.${fun}`, jid: JID, ...gives })
    return { tag: cmd === 'runner' ? tags.run(JID) : tags.wheel(JID), jid: JID, data: { jid: JID, ...gives } }
  }
})
afterEach(() => api.close())

const get = async (url: string) => {
  const answer = await api.app.inject({ url, headers })
  return [answer.statusCode, answer.json()]
}

test('all of them require a token', async () => {
  for (const url of ['/minions', '/minions/m1', '/jobs', '/jobs/1', '/keys', '/keys/m1'])
    expect((await api.app.inject(url)).statusCode, url).toBe(401)
  for (const url of ['/minions', '/keys'])
    expect(
      (await api.app.inject({ method: 'POST', url, body: { mid: 'm9', tgt: '*', fun: 'x' } })).statusCode,
    ).toBe(401)
  expect(api.asked).toEqual([])
})

test('GET /minions returns the grains of all minions, /minions/m1 those of one', async () => {
  expect(await get('/minions')).toEqual([200, { return: [{ m1: { os: 'x' } }] }])
  await get('/minions/m%31/')
  expect(api.asked).toMatchObject([
    { fun: 'grains.items', tgt: '*' },
    { fun: 'grains.items', tgt: 'm1' },
  ])
})

test('POST /minions starts a job, whatever client is asked for, and links to it', SLOW, async () => {
  const answer = await api.app.inject({
    method: 'POST',
    url: '/minions',
    body: 'tgt=*&fun=test.ping&client=runner',
    headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
  })
  expect([answer.statusCode, answer.json()]).toEqual([
    202,
    { return: [{ jid: JID, minions: ['m1'] }], _links: { jobs: [{ href: `/jobs/${JID}` }] } },
  ])
})

test('GET /jobs lists jobs, /jobs/<jid> returns a job with its returns', async () => {
  gives = { return: { [JID]: { Function: 'test.ping' } }, success: true }
  expect(await get('/jobs')).toEqual([200, { return: [gives.return] }])
  const job = { jid: JID, Result: { m1: { return: true }, m2: { retcode: 1 } } }
  gives = { return: job, success: true }
  expect(await get(`/jobs/${JID}?timeout=5`)).toEqual([
    200,
    { info: [job], return: [{ m1: true, m2: null }] },
  ])
  expect(api.asked[1]).toMatchObject({ fun: 'jobs.list_job', kwarg: { kwarg: { jid: JID } } })
  gives = { return: 'There is no job 1.', success: false }
  expect(await get('/jobs/1')).toEqual([404, { status: 404, return: 'There is no job 1.' }])
})

test('/jobs searches by metadata, written as on a command line', async () => {
  gives = { return: {}, success: true }
  for (const text of ['{city: Paris, "n": 1}', '{"city":"Paris","n":1}'])
    expect((await get(`/jobs?limit=5&search_metadata=${encodeURIComponent(text)}`))[0]).toBe(200)
  const kwarg = { kwarg: { limit: 5, search_metadata: { city: 'Paris', n: 1 } } }
  expect(api.asked).toMatchObject([{ fun: 'jobs.list_jobs', kwarg }, { kwarg }])
  expect(await get('/jobs?search_metadata=Paris')).toEqual([
    400,
    { status: 400, return: "'search_metadata' must be a map, as {city: Paris}, not 'Paris'." },
  ])
})

test('GET /keys lists keys, /keys/m1 returns fingerprints', async () => {
  gives = { return: { minions: ['m1'] }, success: true }
  expect(await get('/keys')).toEqual([200, { return: { minions: ['m1'] } }])
  await get('/keys/m1')
  expect(api.asked).toMatchObject([{ fun: 'key.list_all' }, { fun: 'key.finger', kwarg: { match: 'm1' } }])
})

test('POST /keys returns a new key pair as an archive that tar reads', async () => {
  gives = { return: { pub: 'PUBLIC', priv: 'PRIVATE' }, success: true }
  const answer = await api.app.inject({
    method: 'POST',
    url: '/keys',
    headers: { 'content-type': 'application/json' },
    body: { mid: 'm9', keysize: 2048, eauth: 'pam', username: 'alice', password: 'x' },
  })
  expect(answer.headers['content-type']).toBe('application/x-tar')
  expect(answer.headers['content-disposition']).toBe('attachment; filename="saltkeys-m9.tar"')
  expect(api.asked[0]).toMatchObject({
    fun: 'key.gen_accept',
    kwarg: { id_: 'm9', keysize: 2048 },
    username: 'alice',
  })
  const tar = (...args: string[]) =>
    spawnSync('tar', args, { input: answer.rawPayload, encoding: 'utf8' }).stdout
  expect(tar('-tvf', '-')).toMatch(
    /^-rw-r--r-- root\/root +6 .* minion\.pub\n-rw------- root\/root +7 .* minion\.pem\n$/,
  )
  expect(tar('-xOf', '-', 'minion.pem')).toBe('PRIVATE')
})

test('POST /keys without an id, with an invalid one, or for one that has a key, is refused', async () => {
  const ask = async (body: object) => {
    const answer = await api.app.inject({ method: 'POST', url: '/keys', headers, body })
    return [answer.statusCode, answer.json().return]
  }
  expect(await ask({})).toEqual([400, 'Lowstates must be a list.'])
  expect(await ask({ force: true })).toEqual([
    400,
    "'mid' must be the id of the minion that the keys are for.",
  ])
  expect(await ask({ mid: '../m1' })).toEqual([
    400,
    'The minion id "../m1" is not valid: it contains a slash or backslash.',
  ])
  expect(api.asked).toEqual([])
  gives = { return: {}, success: true }
  expect(await ask({ mid: 'm1' })).toEqual([400, 'No keys were generated for m1: it has a key already.'])
})

test('query parameters search in /jobs, and select ids as in Salt', async () => {
  gives = { return: { [JID]: { Function: 'test.ping' } }, success: true }
  await get('/jobs?limit=5&search_user=ada&before=20261122010203000004')
  await get(`/jobs?jid=${JID}`)
  await get('/minions?mid=m1')
  await get('/keys?mid=m1')
  expect(api.asked).toMatchObject([
    { fun: 'jobs.list_jobs', kwarg: { kwarg: { limit: 5, search_user: 'ada', before: JID } } },
    { fun: 'jobs.list_job', kwarg: { kwarg: { jid: JID } } },
    { fun: 'grains.items', tgt: 'm1' },
    { fun: 'key.finger' },
  ])
})

test.each([
  ['/jobs?limits=5', "Unknown query parameter 'limits' for /jobs. Did you mean 'limit'?"],
  ['/jobs?limit=five', "'limit' must be a whole number, not 'five'."],
  ['/jobs?limit=1&limit=2', "The query parameter 'limit' is given more than once."],
  ['/minions/m1?grain=os', "Unknown query parameter 'grain' for /minions. It takes mid."],
  ['/stats?x=1', "Unknown query parameter 'x' for /stats. It takes no query parameters."],
  ['/events?tags=salt/*', "Unknown query parameter 'tags' for /events. Did you mean 'tag'?"],
])('%s: unknown query parameters are refused with a sentence', async (url, sentence) => {
  expect(await get(url)).toEqual([400, { status: 400, return: sentence }])
  expect(api.asked.filter(({ cmd }) => cmd !== 'get_token')).toEqual([])
})

test('/livez accepts any query, and every path accepts the cache-busting parameter _', async () => {
  expect((await api.app.inject('/livez?probe=7')).statusCode).toBe(200)
  expect((await api.app.inject('/?_=1763850000')).statusCode).toBe(200)
})
