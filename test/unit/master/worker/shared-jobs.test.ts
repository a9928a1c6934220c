import { setTimeout as delay } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import type { LoadRecord } from '../../../../core/author/returner.ts'
import { NotAcknowledged } from '../../../../core/channel/request-server.ts'
import { SharedJobs } from '../../../../core/master/worker/shared-jobs.ts'
import { fakeLog } from '../../../../core/testing/recording-log.ts'
import { SLOW } from '../../../harness/slow.ts'

const { log } = fakeLog()
const times = { pauses: [0, 5], answer: 20, again: 50, away: 50 }
const job = (jid: string, ...minions: string[]): LoadRecord => ({ jid, load: { fun: 'test.ping' }, minions })
const never = () => new Promise<undefined>(() => {})

test('the returns of many minions cause one request to the store', async () => {
  const search = vi.fn(async (jid: string) => job(jid, 'web1', 'web2'))
  const shared = new SharedJobs(search, log, times)
  await Promise.all([shared.find('1', 'web1'), shared.find('1', 'web2')])
  await shared.find('1', 'web1')
  expect(search).toHaveBeenCalledTimes(1)
  expect(shared.get('1')?.minions).toEqual(new Set(['web1', 'web2']))
})

test('a job that is nowhere is given up after a while, and searched again later', async () => {
  const search = vi.fn(async (): Promise<LoadRecord | undefined> => undefined)
  const shared = new SharedJobs(search, log, times)
  await shared.find('1', 'web1')
  await shared.find('1', 'web2')
  expect(search).toHaveBeenCalledTimes(times.pauses.length)
  await delay(2 * times.again)
  search.mockImplementation(async () => job('1', 'web1'))
  await shared.find('1', 'web2')
  expect(shared.get('1')?.minions).toEqual(new Set(['web1']))
})

test(
  'a store that does not answer, or refuses, delays one return, and is asked again a little later',
  SLOW,
  async () => {
    const refuse = () => Promise.reject(new Error('it refuses'))
    for (const away of [never, refuse]) {
      const search = vi.fn<(jid: string) => Promise<LoadRecord | undefined>>(away)
      const { lines, log } = fakeLog()
      const shared = new SharedJobs(search, log, times)
      await shared.find('1', 'web1')
      await shared.find('2', 'web1')
      expect(search).toHaveBeenCalledTimes(1)
      expect(lines.map(({ message }) => message).join()).toMatch(
        /cannot be looked up.*(does not answer|it refuses)/,
      )
      await delay(2 * times.away)
      search.mockImplementation(async (jid) => job(jid, 'web1'))
      await shared.find('1', 'web1')
      expect(shared.get('1')?.minions).toEqual(new Set(['web1']))
    }
  },
)

test('a job that was found stays known if it is no longer found, or the store is down', async () => {
  const search = vi.fn<(jid: string) => Promise<LoadRecord | undefined>>(async (jid) => job(jid, 'web1'))
  const shared = new SharedJobs(search, log, times)
  await shared.find('1', 'web1')
  for (const later of [async () => undefined, never]) {
    search.mockImplementation(later)
    await shared.find('1', 'evil')
    expect(shared.get('1')?.minions).toEqual(new Set(['web1']))
  }
  expect(search).toHaveBeenCalledTimes(3)
})

test('a minion with returns for many unknown jobs at once is asked to send them again', async () => {
  const shared = new SharedJobs(never, log, times)
  const found = Array.from({ length: 4 }, (_, n) => shared.find(String(n), 'evil'))
  await expect(shared.find('5', 'evil')).rejects.toThrow(NotAcknowledged)
  const other = shared.find('5', 'web1')
  await Promise.all([...found, other])
  await delay(2 * times.away)
  await shared.find('6', 'evil')
})

test('the oldest jobs are dropped', async () => {
  const ids = Array.from({ length: 30_000 }, (_, n) => `web${n}`)
  const shared = new SharedJobs(async (jid) => job(jid, ...ids), log)
  for (const jid of ['1', '2']) await shared.find(jid, 'web1')
  expect([shared.get('1'), shared.get('2')?.minions.size]).toEqual([undefined, 30_000])
})
