import { expect, test } from 'vitest'
import { Semaphore } from '../../../core/base/semaphore.ts'

/** Whether a promise has been settled by now. */
async function settled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending')
  await new Promise(setImmediate)
  return (await Promise.race([promise, Promise.resolve(pending)])) !== pending
}

test('at most the given number run at once, and the others in the order they came', async () => {
  const turns = new Semaphore(2)
  const [first, second] = [await turns.take(), await turns.take()]
  expect(turns.full).toBe(true)
  const third = turns.take()
  const fourth = turns.take()
  expect(await settled(third)).toBe(false)
  second()
  const end = await third
  expect(await settled(fourth)).toBe(false)
  first()
  end()
  ;(await fourth)()
  expect(turns.full).toBe(false)
})

test('a waiter that gives up does not cost the next one its turn', async () => {
  const turns = new Semaphore(1)
  const first = await turns.take()
  const leaving = new AbortController()
  const second = turns.take(leaving.signal)
  const third = turns.take()
  leaving.abort(new Error('enough'))
  await expect(second).rejects.toThrow('enough')
  first()
  expect(await settled(third)).toBe(true)
})

test('without a limit no caller waits', async () => {
  for (const limit of [-1, 0]) {
    const turns = new Semaphore(limit)
    for (let count = 0; count < 100; count++) await turns.take()
    expect(turns.full).toBe(false)
  }
})
