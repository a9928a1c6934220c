import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Outbox, type Parcel } from '../../../core/jobs/outbox.ts'

let folder: string
let outbox: Outbox
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'salt-ts-outbox-'))
  outbox = Outbox.open(folder)
})
afterEach(async () => {
  await outbox.close()
  await rm(folder, { recursive: true, force: true })
})

const parcel = (n: number): Parcel => ({ kind: 'event', tag: `t/${n}`, data: { n } })
const parcels = (count: number) => Array.from({ length: count }, (_, n) => parcel(n))

test('gives what was put in, oldest first, for each target apart', async () => {
  await outbox.add(['a', 'b'], [parcel(1), parcel(2)])
  await outbox.add(['b'], [parcel(3)])
  expect(outbox.targets()).toEqual(['a', 'b'])
  expect((await outbox.next('a'))?.parcels.map((one) => one.parcel)).toEqual([parcel(1), parcel(2)])
  expect((await outbox.next('b'))?.parcels).toHaveLength(3)
})

test('gives the same batch again until it is done, whatever was added meanwhile, also after a restart', async () => {
  await outbox.add(['a'], [parcel(1)])
  const first = await outbox.next('a')
  await outbox.add(['a'], [parcel(2)])
  await outbox.close()
  outbox = Outbox.open(folder)
  const again = await outbox.next('a')
  expect(again).toEqual(first)
  await outbox.done('a', again?.parcels ?? [])
  const second = await outbox.next('a')
  expect(second?.parcels.map((one) => one.parcel)).toEqual([parcel(2)])
  expect(second?.id).not.toBe(first?.id)
})

test('gives the next batch with the end of the one before, and that one again after a restart', async () => {
  await outbox.add(['a'], parcels(5))
  const first = await outbox.next('a', { most: 2 })
  const second = first && (await outbox.finish(first, { most: 2 }))
  expect(second?.parcels.map(({ number }) => number)).toEqual([2, 3])
  await outbox.close()
  outbox = Outbox.open(folder)
  expect(await outbox.next('a')).toEqual(second)
  const third = second && (await outbox.finish(second))
  expect(third?.parcels.map(({ number }) => number)).toEqual([4])
  expect(third && (await outbox.finish(third))).toBeUndefined()
  expect(outbox.targets()).toEqual([])
})

test('takes more returns into a batch that was not written, as stores know each by itself', async () => {
  const ret: Parcel = { kind: 'return', ret: { jid: '20300101000000000000', id: 'web1' } }
  await outbox.add(['a'], [ret])
  expect((await outbox.next('a'))?.parcels).toHaveLength(1)
  await outbox.add(['a'], [ret])
  expect((await outbox.next('a'))?.parcels).toHaveLength(2)
})

test('never gives two batches the same id, not even when it was empty in between', async () => {
  const ids = new Set<string>()
  for (let n = 0; n < 5; n++) {
    await outbox.add(['a'], [parcel(n)])
    const batch = await outbox.next('a')
    ids.add(batch?.id ?? '')
    await outbox.done('a', batch?.parcels ?? [])
  }
  expect(ids.size).toBe(5)
  expect(outbox.targets()).toEqual([])
})

test('ends a batch after 500 parcels, or about a megabyte', async () => {
  await outbox.add(['many'], parcels(700))
  expect((await outbox.next('many'))?.parcels).toHaveLength(500)
  const large: Parcel = { kind: 'return', ret: { return: 'x'.repeat(700_000) } }
  await outbox.add(['large'], [large, large, large])
  expect((await outbox.next('large'))?.parcels).toHaveLength(2)
})

test('waits until enough is there, or the first has waited long enough', async () => {
  await outbox.add(['a'], parcels(2))
  expect(await outbox.next('a', { gather: { parcels: 3, ms: 60_000 } })).toBeUndefined()
  expect((await outbox.next('a', { gather: { parcels: 2, ms: 60_000 } }))?.parcels).toHaveLength(2)
  await outbox.add(['b'], [parcel(1)])
  expect((await outbox.next('b', { gather: { parcels: 3, ms: 0 } }))?.parcels).toHaveLength(1)
  await outbox.add(['c'], parcels(3))
  expect((await outbox.next('c', { gather: { parcels: 9, ms: 60_000 }, most: 2 }))?.parcels).toHaveLength(2)
})

test('puts aside what cannot be written, and puts it back or drops it when asked to', async () => {
  await outbox.add(['a'], parcels(3))
  const batch = await outbox.next('a')
  await outbox.bury('a', batch?.parcels ?? [], 'too large')
  expect(outbox.counts('a')).toEqual({ queued: 0, dead: 3 })
  expect([...outbox.dead('a')].map(({ number, reason }) => [number, reason])).toEqual([
    [0, 'too large'],
    [1, 'too large'],
    [2, 'too large'],
  ])
  expect(await outbox.retry('a', [1])).toBe(1)
  expect((await outbox.next('a'))?.parcels.map((one) => one.parcel)).toEqual([parcel(1)])
  expect(await outbox.purge('a')).toBe(2)
  expect(outbox.counts('a')).toMatchObject({ queued: 1, dead: 0 })
})

test('takes targets of any length, as those with options are', async () => {
  const long = JSON.stringify({ name: 'postgres', kwargs: { note: 'ключ\u{1f98a}'.repeat(500) } })
  await outbox.add([long], [parcel(1)])
  await outbox.setState(long, { state: 'down', since: 1, written: 0, failures: 2, error: 'refused' })
  expect(outbox.targets()).toEqual([long])
  expect(outbox.known()).toEqual([long])
  expect((await outbox.next(long))?.parcels).toHaveLength(1)
  expect(outbox.state(long)).toMatchObject({ state: 'down', failures: 2 })
})
