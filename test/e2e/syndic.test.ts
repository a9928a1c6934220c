import { afterAll, beforeAll, expect, test } from 'vitest'
import { Cluster, jobsWithin } from '../harness/daemons.ts'
import { returnsOf } from '../harness/returns-of.ts'
import { until } from '../harness/until.ts'

let top: Cluster
let low: Cluster

beforeAll(async () => {
  top = await Cluster.open({ minions: ['direct'], minion: jobsWithin, master: { order_masters: true } })
  low = await Cluster.open({
    minions: ['web1', 'web2'],
    minion: jobsWithin,
    master: { syndic_master: `127.0.0.1:${top.ports.request}` },
  })
  await low.addSyndic('low')
})

afterAll(async () => {
  await low?.close()
  await top?.close()
})

test('a job of the master above runs on the minions of both masters', async () => {
  const { stdout, stderr, code } = await top.salt('*', 'test.ping', '--out', 'json', '--static')
  expect(JSON.parse(stdout), stderr).toEqual({ direct: true, web1: true, web2: true })
  expect(code).toBe(0)
})

test('a list of minions below, without a key on the master above, is run and looked up by its job id', async () => {
  const { stdout, code } = await top.salt('-L', 'web1,nosuch', 'test.arg', 'x', '--out', 'json', '--static')
  expect(JSON.parse(stdout)).toMatchObject({
    web1: { args: ['x'] },
    nosuch: expect.stringContaining('key_not_accepted'),
  })
  expect(code).not.toBe(0)
})

test('the job cache of the master above has the minions of the job, and their returns', async () => {
  const client = await top.client()
  const results = []
  const run = await client.cmdIter({ tgt: 'web*', fun: 'test.echo', arg: ['hello'] })
  for await (const result of run) results.push(result)
  await client.close()
  expect(results.map(({ id, state }) => [id, state]).sort()).toEqual([
    ['web1', 'returned'],
    ['web2', 'returned'],
  ])
  const { stdout } = await top.command('salt-run', 'jobs.lookup_jid', run.jid, '--out', 'json')
  expect(JSON.parse(stdout)).toEqual({ web1: 'hello', web2: 'hello' })
})

test('a target that no minion matches on any master is an error', async () => {
  const { stderr, code } = await top.salt('nobody*', 'test.ping')
  expect(stderr).toContain('neither of this master nor below its syndics (low)')
  expect(code).not.toBe(0)
})

test('minions below that take long are asked about the job, and awaited', async () => {
  const { stdout, stderr, code } = await top.salt(
    '-t',
    '1',
    '*',
    'test.sleep',
    '4',
    '--out',
    'json',
    '--static',
  )
  expect(JSON.parse(stdout), stderr).toEqual({ direct: true, web1: true, web2: true })
  expect(code).toBe(0)
})

test('a batch runs on minions of both masters', async () => {
  const { stdout, code } = await top.salt('-b', '1', '*', 'test.echo', 'x', '--out', 'json', '--static')
  expect(JSON.parse(stdout)).toEqual({ direct: 'x', web1: 'x', web2: 'x' })
  expect(code).toBe(0)
})

test('a job is killed from above', async () => {
  const client = await top.client()
  const run = await client.cmdIter({ tgt: 'web1', fun: 'test.sleep', arg: [100] })
  const results = run[Symbol.asyncIterator]()
  const first = results.next()
  await until('the job on the minion', async () => {
    const running = await returnsOf(client, { tgt: 'web1', fun: 'saltutil.find_job', arg: [run.jid] })
    return Object.keys((running.web1 as object | undefined) ?? {}).length > 0
  })
  await returnsOf(client, { tgt: 'web1', fun: 'saltutil.kill_job', arg: [run.jid] })
  expect(await first).toMatchObject({ value: { id: 'web1', jobState: 'failed' } })
  await client.close()
})

test('events of the master below are fired above with the prefix of the syndic', async () => {
  const bus = await top.events()
  const events = bus.subscribe('syndic/low/')
  const below = await low.events()
  const seen = until('the event', async () => {
    await below.fire('my/tag', { a: 1 })
    for (let next = events.shift(); next; next = events.shift())
      if (next.event.tag === 'syndic/low/my/tag') return next.event.data
    return undefined
  })
  expect(await seen).toMatchObject({ a: 1 })
  await Promise.all([bus.close(), below.close()])
})

test('a job of the master below is in the job cache of the master above', async () => {
  const client = await low.client()
  const { jid } = await client.runJob({ tgt: 'web1', fun: 'test.echo', arg: ['local'] })
  await client.close()
  await until('its return above', async () => {
    const { stdout } = await top.command('salt-run', 'jobs.lookup_jid', jid, '--out', 'json')
    return JSON.parse(stdout || '{}').web1 === 'local'
  })
})

test('a minion below that is down gets a job later, and the master above its return', async () => {
  const away = low.minions.get('web2')
  await away?.stop()
  const client = await top.client()
  const request = { tgt: 'web*', fun: 'test.echo' as const, arg: ['later'], deliverWithin: 600, timeout: 10 }
  const run = await client.cmdIter(request)
  const states: Record<string, string> = {}
  for await (const { id, state } of run) states[id] = state
  await client.close()
  expect(states).toEqual({ web1: 'returned', web2: 'waiting' })
  away?.start()
  await until('its return above', async () => {
    const { stdout } = await top.command('salt-run', 'jobs.lookup_jid', run.jid, '--out', 'json')
    return JSON.parse(stdout || '{}').web2 === 'later'
  })
})
