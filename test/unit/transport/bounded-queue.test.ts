import { describe, expect, test } from 'vitest'
import { BoundedQueue } from '../../../core/transport/bounded-queue.ts'
import { SLOW } from '../../harness/slow.ts'

const drain = async <T>(queue: BoundedQueue<T>) => {
  const values: T[] = []
  for await (const value of queue) values.push(value)
  return values
}

describe('a bounded queue', () => {
  test('returns values in order, also to a reader that waits already', async () => {
    const queue = new BoundedQueue<number>(10)
    const read = drain(queue)
    queue.offer(1)
    queue.offer(2)
    await Promise.resolve()
    queue.close({ drain: true })
    expect(await read).toEqual([1, 2])
  })

  test('refuses values beyond its size, and values after its end', () => {
    const queue = new BoundedQueue<number>(2)
    expect([queue.offer(1), queue.offer(2), queue.offer(3)]).toEqual([true, true, false])
    queue.shift()
    expect(queue.offer(3)).toBe(true)
    queue.close()
    expect(queue.offer(4)).toBe(false)
  })

  test('makes a writer wait for room', async () => {
    const queue = new BoundedQueue<number>(1)
    const writing = (async () => {
      for (let n = 0; n < 5; n++) await queue.put(n)
      queue.close({ drain: true })
    })()
    expect(await drain(queue)).toEqual([0, 1, 2, 3, 4])
    await writing
  })

  test('releases a waiting writer when it is closed', async () => {
    const queue = new BoundedQueue<number>(1)
    queue.offer(1)
    const waiting = queue.put(2)
    queue.close()
    expect(await waiting).toBe(false)
  })

  test('drops remaining values when it is closed without drain', async () => {
    const queue = new BoundedQueue<number>(3)
    queue.offer(1)
    queue.close()
    expect(await drain(queue)).toEqual([])
  })

  test('stays small over many values', SLOW, async () => {
    const queue = new BoundedQueue<number>(5000)
    for (let n = 0; n < 20_000; n++) {
      queue.offer(n)
      if (n >= 3000) expect(queue.shift()).toBe(n - 3000)
    }
    expect(queue.length).toBe(3000)
  })
})
