import { expect, test } from 'vitest'
import { withClientMetrics, withDurationMetrics } from '../../../../core/master/metrics/request-metrics.ts'
import { withPublishSpans } from '../../../../core/master/metrics/request-spans.ts'
import { countReturn } from '../../../../core/master/metrics/return-metrics.ts'
import { Meter } from '../../../../core/metrics/meter.ts'

const now = () => new Date().toISOString().replaceAll(/\D/g, '').padEnd(20, '0')

test('without metrics handlers are not wrapped', () => {
  const handlers = new Map([['publish', async () => ({})]])
  expect(withClientMetrics(handlers, undefined)).toBe(handlers)
  expect(withPublishSpans(handlers, undefined)).toBe(handlers)
})

test('requests of clients are counted by outcome, including those that fail', async () => {
  const meter = new Meter()
  const replies = { publish: { error: { name: 'AuthorizationError' } }, mk_token: '', runner: { tag: 'x' } }
  const handlers = new Map(Object.entries(replies).map(([name, reply]) => [name, async () => reply]))
  const broken = async () => Promise.reject(new Error('broken'))
  const watched = withClientMetrics(new Map([...handlers, ['wheel', broken]]), meter)
  for (const name of ['publish', 'mk_token', 'runner']) await watched.get(name)?.({})
  await expect(watched.get('wheel')?.({})).rejects.toThrow('broken')
  const snapshot = await meter.snapshot()
  expect(snapshot.salt_master_refusals).toEqual([{ labels: ['publish', 'AuthorizationError'], value: 1 }])
  expect(snapshot.salt_master_logins).toEqual([{ labels: ['refused'], value: 1 }])
  const commands = snapshot.salt_master_request_duration_seconds?.map(({ labels }) => labels[0])
  expect(commands?.sort()).toEqual(['mk_token', 'publish', 'runner', 'wheel'])
})

test('a handler gets its arguments', async () => {
  const meter = new Meter()
  const handlers = new Map([['_return', async (...args: number[]) => args]])
  expect(await withDurationMetrics(handlers, meter).get('_return')?.(1, 2)).toEqual([1, 2])
})

test('returns are counted by success, of several functions if all succeed; an invalid jid gives no duration', async () => {
  const meter = new Meter()
  countReturn(meter, now(), { fun: 'test.ping', retcode: 0, success: true }, 'stored')
  countReturn(meter, now(), { fun: ['a.b', 'c.d'], retcode: { 'a.b': 0, 'c.d': 2 } }, 'stored')
  countReturn(meter, '19990101000000000000', { fun: 'test.ping', retcode: 0 }, 'stored')
  countReturn(meter, '99999999999999999999', { fun: 'test.ping', success: false }, 'stored')
  countReturn(meter, now(), { fun: 'test.ping', retcode: 0 }, 'duplicate')
  countReturn(undefined, now(), {}, 'stored')
  const snapshot = await meter.snapshot()
  expect(snapshot.salt_master_returns).toEqual([
    { labels: ['true'], value: 2 },
    { labels: ['false'], value: 2 },
  ])
  expect(snapshot.salt_master_returns_repeated).toEqual([{ labels: ['duplicate'], value: 1 }])
  expect(snapshot.salt_master_job_failures).toEqual([
    { labels: ['several'], value: 1 },
    { labels: ['test.ping'], value: 1 },
  ])
  const durations = snapshot.salt_master_job_duration_seconds?.map(({ labels }) => labels[0])
  expect(durations).toEqual(['test.ping', 'several'])
})
