import { expect, onTestFinished, test } from 'vitest'
import { Meter } from '../../../core/metrics/meter.ts'
import { Outbox } from '../../../core/outbox/outbox.ts'
import { readOutboxes } from '../../../core/outbox/outbox-metrics.ts'
import { targetText } from '../../../core/outbox/outbox-target.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'

test('each returner has metrics for queued, dead and written entries, and the age of the oldest', async () => {
  const folder = await temporaryFolder('salt-outbox-')
  const outbox = Outbox.open(folder)
  onTestFinished(async () => {
    await outbox.close()
    await removeFolder(folder)
  })
  const event = { kind: 'event', tag: 'x', data: {} } as const
  const other = targetText({ name: 'postgres', config: 'other' })
  await outbox.add(['postgres', other], [event, event, event])
  await outbox.add(['redis'], [event])
  const batch = await outbox.next('postgres')
  await outbox.deadLetter('postgres', batch!.entries.slice(0, 1), 'no')
  const state = { since: 0, written: 7, failures: 2 }
  await outbox.setState('postgres', { ...state, state: 'down' })
  await outbox.setState(other, { ...state, state: 'up' })
  const meter = new Meter()
  readOutboxes(meter, [outbox], { now: () => Date.now() + 10_000 })
  const snapshot = await meter.snapshot()
  const of = (name: keyof typeof snapshot, returner: string) => {
    const found = snapshot[name]?.filter(({ labels }) => labels[0] === returner) ?? []
    expect(found).toHaveLength(1)
    return (found[0] as { value: number }).value
  }
  expect(of('salt_returner_queued', 'postgres')).toBe(5)
  expect(of('salt_returner_dead', 'postgres')).toBe(1)
  expect(of('salt_returner_written', 'postgres')).toBe(14)
  expect(of('salt_returner_up', 'postgres')).toBe(0)
  expect(of('salt_returner_oldest_seconds', 'postgres')).toBeGreaterThanOrEqual(10)
  expect([of('salt_returner_queued', 'redis'), of('salt_returner_up', 'redis')]).toEqual([1, 1])
})
