import { expect, test } from 'vitest'
import type { MinionData } from '../../../../core/cache/minion-data.ts'
import type { JobRecord } from '../../../../core/jobs/job-record.ts'
import { ExpectedSenders } from '../../../../core/master/worker/expected-senders.ts'
import { Meter } from '../../../../core/metrics/meter.ts'
import { createMatcher } from '../../../../core/targets/index.ts'
import { fakeLog } from '../../../../core/testing/recording-log.ts'
import { allMatchers } from '../../../harness/matchers.ts'

const JID = '20261122101112131415'
const matchers = await allMatchers()

function open(jobs: Readonly<Record<string, JobRecord>>) {
  const { log, lines } = fakeLog()
  const meter = new Meter()
  let reads = 0
  const senders = new ExpectedSenders({
    log,
    meter,
    config: { cachedir: '/nowhere' } as never,
    matcher: createMatcher({ matchers: (type) => matchers.get(type), nodegroups: {} }),
    minions: { known: () => ({ of: () => undefined }) } as unknown as MinionData,
    jobs: {
      record(jid) {
        reads++
        return jobs[jid]
      },
    },
  })
  return { senders, lines, meter, reads: () => reads }
}

const job = (...minions: string[]): JobRecord => ({
  load: { fun: 'test.ping', tgt: minions, tgt_type: 'list' },
  minions,
})

test('returns of minions that may not return are counted', async () => {
  const { senders, meter } = open({ [JID]: job('web1') })
  expect([senders.admits(JID, 'web1'), senders.admits(JID, 'evil'), senders.admits(JID, 'evil')]).toEqual([
    true,
    false,
    false,
  ])
  expect((await meter.snapshot()).salt_master_returns_refused).toEqual([{ labels: [], value: 2 }])
})

test('the record of a job is read once for all its minions', () => {
  const ids = Array.from({ length: 1_000 }, (_, n) => `web${n}`)
  const { senders, reads } = open({ [JID]: job(...ids) })
  expect(ids.every((id) => senders.admits(JID, id))).toBe(true)
  expect(reads()).toBe(1)
})

test('of many jobs the oldest are dropped, and read again when needed', () => {
  const ids = Array.from({ length: 30_000 }, (_, n) => `web${n}`)
  const { senders, reads } = open({ [JID]: job(...ids), [`${JID}_1`]: job(...ids) })
  for (const jid of [JID, `${JID}_1`, `${JID}_1`, JID]) expect(senders.admits(jid, 'web7')).toBe(true)
  expect(reads()).toBe(3)
})

test('minions that join a job later may return for it', () => {
  const jobs: Record<string, JobRecord> = { [JID]: job('web1') }
  const { senders } = open(jobs)
  expect(senders.admits(JID, 'web1')).toBe(true)
  jobs[JID] = { ...job('web1'), minions: ['web1', 'web2'] }
  expect(senders.admits(JID, 'web2')).toBe(true)
})

test('no minion may return for a run of a runner or of the wheel, whatever target its record has', () => {
  for (const fun of ['runner.jobs.active', 'wheel.key.accept']) {
    const { senders } = open({ [JID]: { load: { fun, tgt: '*', tgt_type: 'glob' }, minions: [] } })
    expect([fun, senders.admits(JID, 'evil')]).toEqual([fun, false])
  }
})
