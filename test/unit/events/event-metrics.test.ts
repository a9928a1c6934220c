import { expect, test } from 'vitest'
import { encodeEvent } from '../../../core/events/event.ts'
import { createEventWatch, eventKind } from '../../../core/events/event-metrics.ts'
import { tags } from '../../../core/events/tags.ts'
import { Meter } from '../../../core/metrics/meter.ts'

const jid = '20261122112205123456'

test('events are counted by kind, and those of users as other', () => {
  const kinds = [
    tags.jobNew(jid),
    tags.jobPublished(jid),
    tags.jobReturn(jid, 'web1'),
    tags.jobStart(jid, 'web1'),
    tags.jobProgress(jid, 'web1', 3),
    tags.jobStored(jid, 'web1', 'postgres'),
    tags.jobError(),
    tags.jobError(jid),
    tags.batchDone(jid),
    tags.runReturn(jid),
    tags.wheelNew(jid),
    tags.auth,
    tags.key,
    tags.keyRotated,
    tags.presenceChange,
    tags.beacon('web1', 'load'),
    tags.returnerState('postgres', 'up'),
    tags.minionReturnerState('web1', 'postgres', 'down'),
    tags.minionStart('web1'),
    tags.minionPing,
    'my/own',
  ].map(eventKind)
  expect(kinds.join(' ')).toBe(
    'job_new job_published job_return job_start job_row job_stored job_error job_error batch run run auth key key ' +
      'presence beacon returner returner minion_start minion other',
  )
})

test('the latency is measured for a sample of the events, and invalid events do not break it', async () => {
  let now = Date.parse('2026-11-22T12:00:00Z')
  const meter = new Meter()
  const watch = createEventWatch(meter, () => now)
  const deliver = (body: Uint8Array, ms: number) => {
    watch.fired(body)
    now += ms
    watch.delivered()
  }
  deliver(encodeEvent('my/own', {}, new Date(now)), 30)
  deliver(encodeEvent('my/own', {}, new Date(now)), 30) // too soon to look again
  now += 1000
  deliver(Buffer.from('my/own\n\nnothing that can be read'), 1000)
  watch.cutOff()
  const { salt_event_lag_seconds, salt_events_fired, salt_event_readers_cut_off } = await meter.snapshot()
  expect(salt_event_lag_seconds).toMatchObject([{ labels: [], sum: 0.03 }])
  expect(salt_events_fired).toEqual([{ labels: ['other'], value: 3 }])
  expect(salt_event_readers_cut_off).toEqual([{ labels: [], value: 1 }])
})
