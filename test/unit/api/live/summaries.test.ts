import { expect, test } from 'vitest'
import { Summaries } from '../../../../core/api/live/summaries.ts'
import { SLOW } from '../../../harness/slow.ts'

const MEGABYTE = 'x'.repeat(1024 * 1024)
const jidOf = (n: number) => `202601010000000000${String(n).padStart(2, '0')}`

/** Return the jobs in the frames of changed jobs. */
function changedIn(summaries: Summaries) {
  const texts = Array.from(summaries.changed(), ({ plain }) => String(plain))
  return texts.map((text) => Object.values(JSON.parse(text).jobs)[0] as Record<string, unknown>)
}

function start(summaries: Summaries, jid: string, minions: readonly string[]): void {
  summaries.note({
    tag: `salt/job/${jid}/new`,
    data: { minions, fun: 'test.ping', tgt: '*', tgt_type: 'glob', _stamp: 'now' },
  })
}

function answer(summaries: Summaries, jid: string, id: string, value: unknown): void {
  summaries.note({
    tag: `salt/job/${jid}/ret/${id}`,
    data: { return: value, retcode: 0, success: true },
  })
}

test('a job that changes is listed once, with all its minions and their returns', () => {
  const summaries = new Summaries({ grains: true })
  start(summaries, jidOf(1), ['web1', 'web"2'])
  answer(summaries, jidOf(1), 'web1', { temperature: 3 })
  expect(changedIn(summaries)).toEqual([
    {
      jid: jidOf(1),
      start_time: 'now',
      fun: 'test.ping',
      tgt: '*',
      tgt_type: 'glob',
      state: 'running',
      minions: {
        web1: { return: { temperature: 3 }, retcode: 0, success: true },
        'web"2': { success: false },
      },
    },
  ])
  expect(changedIn(summaries)).toEqual([])
  answer(summaries, jidOf(1), 'web"2', null)
  expect(changedIn(summaries)).toMatchObject([{ state: 'complete' }])
})

test('the oldest jobs are dropped when minions have returned more than the limit', SLOW, () => {
  const summaries = new Summaries({ grains: true })
  for (let n = 0; n < 20; n++) {
    start(summaries, jidOf(n), ['web1'])
    answer(summaries, jidOf(n), 'web1', MEGABYTE)
  }
  expect(changedIn(summaries).map(({ jid }) => jid)).toEqual(
    Array.from({ length: 15 }, (_, n) => jidOf(n + 5)),
  )
  start(summaries, jidOf(30), ['web1'])
  answer(summaries, jidOf(30), 'web1', MEGABYTE.repeat(17)) // too large by itself
  expect(changedIn(summaries)).toEqual([])
})

test('a minion that returns again is counted once', SLOW, () => {
  const summaries = new Summaries({ grains: true })
  start(summaries, jidOf(1), ['web1'])
  for (let n = 0; n < 40; n++) answer(summaries, jidOf(1), 'web1', MEGABYTE)
  expect(changedIn(summaries)).toHaveLength(1)
})
