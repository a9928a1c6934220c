import { afterEach, beforeEach, expect, test } from 'vitest'
import { Outbox, type OutboxItem } from '../../../core/outbox/outbox.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'

let folder: string
let outbox: Outbox
beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-outbox-')
  outbox = Outbox.open(folder)
})
afterEach(async () => {
  await outbox.close()
  await removeFolder(folder)
})

const item = (n: number): OutboxItem => ({ kind: 'event', tag: `t/${n}`, data: { n } })
const items = (count: number) => Array.from({ length: count }, (_, n) => item(n))

test('the outbox returns entries in order, for each target separately', async () => {
  await outbox.add(['a', 'b'], [item(1), item(2)])
  await outbox.add(['b'], [item(3)])
  expect(outbox.targets()).toEqual(['a', 'b'])
  expect((await outbox.next('a'))?.entries.map((one) => one.item)).toEqual([item(1), item(2)])
  expect((await outbox.next('b'))?.entries).toHaveLength(3)
})

test('the outbox returns the same batch until it is done, despite new entries, and also after a restart', async () => {
  await outbox.add(['a'], [item(1)])
  const first = await outbox.next('a')
  await outbox.add(['a'], [item(2)])
  await outbox.close()
  outbox = Outbox.open(folder)
  const again = await outbox.next('a')
  expect(again).toEqual(first)
  await outbox.done('a', again?.entries ?? [])
  const second = await outbox.next('a')
  expect(second?.entries.map((one) => one.item)).toEqual([item(2)])
  expect(second?.id).not.toBe(first?.id)
})

test('finishing a batch returns the next one, which is returned again after a restart', async () => {
  await outbox.add(['a'], items(5))
  const first = await outbox.next('a', { maxItems: 2 })
  const second = first && (await outbox.finish(first, { maxItems: 2 }))
  expect(second?.entries.map(({ number }) => number)).toEqual([2, 3])
  await outbox.close()
  outbox = Outbox.open(folder)
  expect(await outbox.next('a')).toEqual(second)
  const third = second && (await outbox.finish(second))
  expect(third?.entries.map(({ number }) => number)).toEqual([4])
  expect(third && (await outbox.finish(third))).toBeUndefined()
  expect(outbox.targets()).toEqual([])
})

test('the outbox adds returns to a batch that was not written if the store identifies each return', async () => {
  const ret: OutboxItem = { kind: 'return', ret: { jid: '20300101000000000000', id: 'web1' } }
  await outbox.add(['a'], [ret])
  expect((await outbox.next('a'))?.entries).toHaveLength(1)
  await outbox.add(['a'], [ret])
  expect((await outbox.next('a'))?.entries).toHaveLength(2)
})

test('the outbox never uses a batch id twice, even if it was empty in between', async () => {
  const ids = new Set<string>()
  for (let n = 0; n < 5; n++) {
    await outbox.add(['a'], [item(n)])
    const batch = await outbox.next('a')
    ids.add(batch?.id ?? '')
    await outbox.done('a', batch?.entries ?? [])
  }
  expect(ids.size).toBe(5)
  expect(outbox.targets()).toEqual([])
})

test('the outbox ends a batch after 500 entries, or about a megabyte', async () => {
  await outbox.add(['many'], items(700))
  expect((await outbox.next('many'))?.entries).toHaveLength(500)
  const large: OutboxItem = { kind: 'return', ret: { return: 'x'.repeat(700_000) } }
  await outbox.add(['large'], [large, large, large])
  expect((await outbox.next('large'))?.entries).toHaveLength(2)
})

test('the outbox waits until there are enough entries, or the first one has waited long enough', async () => {
  await outbox.add(['a'], items(2))
  expect(await outbox.next('a', { gather: { entries: 3, ms: 60_000 } })).toBeUndefined()
  expect((await outbox.next('a', { gather: { entries: 2, ms: 60_000 } }))?.entries).toHaveLength(2)
  await outbox.add(['b'], [item(1)])
  expect((await outbox.next('b', { gather: { entries: 3, ms: 0 } }))?.entries).toHaveLength(1)
  await outbox.add(['c'], items(3))
  expect((await outbox.next('c', { gather: { entries: 9, ms: 60_000 }, maxItems: 2 }))?.entries).toHaveLength(
    2,
  )
})

test('the outbox moves entries that cannot be written to the dead ones, and requeues or drops them on request', async () => {
  await outbox.add(['a'], items(3))
  const batch = await outbox.next('a')
  await outbox.deadLetter('a', batch?.entries ?? [], 'too large')
  expect(outbox.counts('a')).toEqual({ queued: 0, dead: 3 })
  expect([...outbox.dead('a')].map(({ number, reason }) => [number, reason])).toEqual([
    [0, 'too large'],
    [1, 'too large'],
    [2, 'too large'],
  ])
  expect(await outbox.retry('a', [1])).toBe(1)
  expect((await outbox.next('a'))?.entries.map((one) => one.item)).toEqual([item(1)])
  expect(await outbox.purge('a')).toBe(2)
  expect(outbox.counts('a')).toMatchObject({ queued: 1, dead: 0 })
})

test('the outbox accepts targets of any length, such as those with options', async () => {
  const long = JSON.stringify({ name: 'postgres', kwargs: { note: 'ключ\u{1f98a}'.repeat(500) } })
  await outbox.add([long], [item(1)])
  await outbox.setState(long, { state: 'down', since: 1, written: 0, failures: 2, error: 'refused' })
  expect(outbox.targets()).toEqual([long])
  expect(outbox.known()).toEqual([long])
  expect((await outbox.next(long))?.entries).toHaveLength(1)
  expect(outbox.state(long)).toMatchObject({ state: 'down', failures: 2 })
})
