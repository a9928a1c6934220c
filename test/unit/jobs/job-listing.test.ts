import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JobQuery } from '../../../core/author/master.ts'
import { JobCache } from '../../../core/jobs/job-cache.ts'
import { matchesQuery } from '../../../core/jobs/job-query.ts'
import { keysUnder, openStore } from '../../../core/store/index.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { SLOW } from '../../harness/slow.ts'

const jidOf = (n: number) => `202402291200${String(n).padStart(8, '0')}`
const COUNT = 600
const listOf = (count: number) => Array.from({ length: count }, (_, n) => `web${n}`)

/** Each function, target and user in several mixtures, some that no index holds by themselves. */
const loads = Array.from({ length: COUNT }, (_, n) => ({
  jid: jidOf(n),
  load: {
    fun: n % 50 === 7 ? ['test.ping', 'cmd.run'] : n % 3 ? 'test.ping' : `state.sls_${n % 4}`,
    tgt: n % 10 === 0 ? listOf(3) : n % 7 ? '*' : `web${n % 11}`,
    user: n % 100 === 1 ? 'ann' : 'root',
    metadata: { n: n % 5 },
  },
}))

const queries: JobQuery[] = [
  {},
  { functions: ['test.ping'] },
  { functions: ['state.*', 'cmd.run'] },
  { functions: ['no.such'] },
  { functions: ['*'] },
  { targets: ['web1'] },
  { targets: ['web?'], functions: ['test.*'] },
  { users: ['ann'] },
  { users: ['root'], targets: ['web2'], functions: ['test.ping'] },
  { functions: ['state.sls_[12]'], before: jidOf(400), after: jidOf(100) },
  { metadata: { n: 3 }, after: jidOf(590) },
]

let directory: string
let cache: JobCache
beforeAll(async () => {
  directory = await temporaryFolder('salt-listing-')
  cache = JobCache.open(directory)
  await Promise.all(loads.map(({ jid, load }) => cache.create(jid, load, ['a'])))
})
afterAll(async () => {
  await cache.close()
  await removeFolder(directory)
})

const fitting = (query: JobQuery) =>
  loads
    .filter(({ jid, load }) => matchesQuery(jid, load, query))
    .map(({ jid }) => jid)
    .reverse()
const listed = (query: JobQuery) => Array.from(cache.list(query), ({ jid }) => jid)

test('matching jobs are found, newest first, with and without an index', SLOW, async () => {
  for (const query of queries) expect(listed(query)).toEqual(fitting(query))
  await cache.completeIndex()
  for (const query of queries) expect(listed(query)).toEqual(fitting(query))
  for (const query of queries) expect(listed({ ...query, limit: 2 })).toEqual(fitting(query).slice(0, 2))
})

test('jobs of a rare value are found without reading the others', SLOW, async () => {
  await cache.completeIndex()
  const store = openStore(JobCache.path(directory))
  for (const { jid } of loads.filter(({ load }) => load.user === 'root')) await forget(store, jid)
  expect(listed({ users: ['ann'], functions: ['*'] })).toEqual(fitting({ users: ['ann'] }))
  expect(listed({})).toHaveLength(6)
  await store.close()

  function forget(records: typeof store, jid: string) {
    return records.remove(['job', jid])
  }
})

test('the index lists existing jobs with their current values', SLOW, async () => {
  const jid = jidOf(9000)
  await cache.saveLoad(jid, { fun: 'a.b', tgt: '*', user: 'eve' }, [])
  await cache.saveLoad(jid, { fun: 'c.d', tgt: '*', user: 'eve' }, [])
  expect(listed({ functions: ['c.d'] })).toEqual([jid])
  await cache.expire(new Date(Date.now() + 1000))
  const store = openStore(JobCache.path(directory))
  expect([...store.keys(keysUnder('by'))].filter((key) => key[3] === jid)).toEqual([])
  await store.close()
})

test('a job with a target that cannot be text does not disturb the listing', () => {
  const load = { tgt: ['web1', { toString: 1 }], fun: 'test.ping' }
  expect(matchesQuery('20261120120000000001', load, { targets: ['web?'] })).toBe(true)
  expect(matchesQuery('20261120120000000001', load, { targets: ['db*'] })).toBe(false)
})
