import { expect, test } from 'vitest'
import { mapConcurrently } from '../../../core/base/map-concurrently.ts'

const tick = () => new Promise((resolve) => setImmediate(resolve))

test('mapConcurrently works on at most the given number at once, and gives the results in order', async () => {
  let running = 0
  let most = 0
  const found = await mapConcurrently(
    [5, 1, 4, 2, 3],
    async (ticks) => {
      most = Math.max(most, ++running)
      for (let count = 0; count < ticks; count++) await tick()
      running--
      return ticks * 10
    },
    2,
  )
  expect(found).toEqual([50, 10, 40, 20, 30])
  expect(most).toBe(2)
})

test('mapConcurrently starts nothing more after a failure, and ends only when nothing runs any more', async () => {
  const begun: number[] = []
  const over: number[] = []
  const work = async (one: number) => {
    begun.push(one)
    if (one === 1) throw new Error('failed')
    for (let count = 0; count < 5; count++) await tick()
    over.push(one)
  }
  await expect(mapConcurrently([1, 2, 3, 4], work, 2)).rejects.toThrow('failed')
  expect([begun, over]).toEqual([[1, 2], [2]])
})
