import { expect, test } from 'vitest'
import { deferred } from '../../../core/base/deferred.ts'
import { repeat } from '../../../core/base/repeat.ts'

test('work is repeated, never twice at once, also after it has failed', async () => {
  const done = deferred<void>()
  const errors: unknown[] = []
  let atOnce = 0
  let runs = 0
  const rounds = repeat(
    async () => {
      atOnce++
      runs++
      await new Promise(setImmediate)
      expect(atOnce).toBe(1)
      atOnce--
      if (runs === 1) throw new Error('the first one')
      if (runs === 3) done.resolve()
    },
    1,
    (error) => void errors.push(error),
  )
  await done.promise
  await rounds.close()
  expect(errors).toEqual([new Error('the first one')])
})

test('closing waits for the work under way', async () => {
  const begun = deferred<void>()
  const finish = deferred<void>()
  let ended = false
  const rounds = repeat(
    async () => {
      begun.resolve()
      await finish.promise
      ended = true
    },
    1,
    (error) => {
      throw error
    },
  )
  await begun.promise
  const closed = rounds.close()
  finish.resolve()
  await closed
  expect(ended).toBe(true)
})
