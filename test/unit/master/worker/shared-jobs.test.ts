import { setTimeout as delay } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import type { LoadRecord } from '../../../../core/author/returner.ts'
import { NotAcknowledged } from '../../../../core/channel/request-server.ts'
import { SharedJobs } from '../../../../core/master/worker/shared-jobs.ts'

const times = { pauses: [0, 5], longest: 20, again: 50 }
const job = (jid: string, ...minions: string[]): LoadRecord => ({ jid, load: { fun: 'test.ping' }, minions })
const never = () => new Promise<undefined>(() => {})

test('the returns of many minions ask the store once', async () => {
  const search = vi.fn(async (jid: string) => job(jid, 'web1', 'web2'))
  const shared = new SharedJobs(search, times)
  await Promise.all([shared.find('1', 'web1'), shared.find('1', 'web2')])
  await shared.find('1', 'web1')
  expect(search).toHaveBeenCalledTimes(1)
  expect(shared.get('1')?.minions).toEqual(new Set(['web1', 'web2']))
})

test('a job that is nowhere is given up after a while, and searched again after another', async () => {
  const search = vi.fn(async (): Promise<LoadRecord | undefined> => undefined)
  const shared = new SharedJobs(search, times)
  await shared.find('1', 'web1')
  await shared.find('1', 'web2')
  expect(search).toHaveBeenCalledTimes(times.pauses.length)
  await delay(2 * times.again)
  search.mockImplementation(async () => job('1', 'web1'))
  await shared.find('1', 'web2')
  expect(shared.get('1')?.minions).toEqual(new Set(['web1']))
})

test('a store that does not answer delays a return for seconds only', async () => {
  const shared = new SharedJobs(never, times)
  await shared.find('1', 'web1')
  expect(shared.get('1')).toBeUndefined()
})

test('a minion that sends returns for many unknown jobs at once is asked to send them again', async () => {
  const shared = new SharedJobs(never, times)
  const found = Array.from({ length: 4 }, (_, n) => shared.find(String(n), 'evil'))
  await expect(shared.find('5', 'evil')).rejects.toThrow(NotAcknowledged)
  const other = shared.find('5', 'web1')
  await Promise.all([...found, other])
  await shared.find('6', 'evil')
})

test('the oldest jobs are forgotten', async () => {
  const shared = new SharedJobs(async (jid) =>
    job(jid, ...Array.from({ length: 30_000 }, (_, n) => `web${n}`)),
  )
  for (const jid of ['1', '2']) await shared.find(jid, 'web1')
  expect([shared.get('1'), shared.get('2')?.minions.size]).toEqual([undefined, 30_000])
})
