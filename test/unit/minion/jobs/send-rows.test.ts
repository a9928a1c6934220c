import { expect, test } from 'vitest'
import { type Deferred, deferred } from '../../../../core/base/deferred.ts'
import { decode } from '../../../../core/codec/index.ts'
import { type SentRow, sendRows } from '../../../../core/minion/jobs/send-rows.ts'
import { eventually, until } from '../../../harness/until.ts'

const rowsOf = (told: readonly SentRow[]) => told.map(({ number, row }) => [number, decode(row.bytes)])

/** A master that answers when it is told to. */
function slowMaster() {
  const told: unknown[][] = []
  const answers: Deferred<void>[] = []
  const tell = (rows: readonly SentRow[]) => {
    told.push(rowsOf(rows))
    const answer = deferred<void>()
    answers.push(answer)
    return answer.promise
  }
  return { told, answers, tell }
}

test('rows during an unanswered request are sent together with the next one, in order', async () => {
  const { told, answers, tell } = slowMaster()
  const rows = sendRows(tell)
  for (const [number, row] of ['a', 'b', 'c'].entries()) await rows.take(row, number)
  expect(told).toEqual([[[0, 'a']]])
  answers[0]?.resolve()
  await until('the others', () => told.length === 2)
  expect(told[1]).toEqual([
    [1, 'b'],
    [2, 'c'],
  ])
})

test('the end waits until all rows are sent', async () => {
  const { told, answers, tell } = slowMaster()
  const rows = sendRows(tell)
  for (const [number, row] of ['a', 'b'].entries()) await rows.take(row, number)
  let ended = false
  const end = rows.end?.().then(() => {
    ended = true
  })
  answers[0]?.resolve()
  await until('the second request', () => told.length === 2)
  expect(ended).toBe(false)
  answers[1]?.resolve()
  await end
})

test('a thousand rows need few requests, and each is sent once', async () => {
  const told: unknown[] = []
  let requests = 0
  const rows = sendRows(async (some) => {
    requests++
    await new Promise(setImmediate)
    told.push(...rowsOf(some))
  })
  for (let number = 0; number < 1000; number++) await rows.take({ number }, number)
  await rows.end?.()
  expect(told).toEqual(Array.from({ length: 1000 }, (_, number) => [number, { number }]))
  expect(requests).toBeLessThan(10)
})

test.each([{ maxRows: 2 }, { maxBytes: 10 }])('with %j waiting the job waits, too', async (most) => {
  const { told, answers, tell } = slowMaster()
  const rows = sendRows(tell, most)
  for (const number of [0, 1]) await rows.take('xxxx', number)
  let taken = false
  const third = rows.take('xxxxxx', 2).then(() => {
    taken = true
  })
  await new Promise(setImmediate)
  expect(taken).toBe(false)
  answers[0]?.resolve()
  await until('the next request', () => told.length === 2)
  answers[1]?.resolve()
  await third
  expect(told.flat()).toHaveLength(3)
})

test('a row is sent as it was when it was yielded', async () => {
  const { told, answers, tell } = slowMaster()
  const rows = sendRows(tell)
  const row = { step: 1 }
  await rows.take('first', 0)
  await rows.take(row, 1)
  row.step = 2
  answers[0]?.resolve()
  await until('the second', () => told.length === 2)
  expect(told[1]).toEqual([[1, { step: 1 }]])
})

test('a master that does not answer delays the job once; when it is back it gets the next rows', async () => {
  const { told, answers, tell } = slowMaster()
  const rows = sendRows(tell, { waitMs: 1, maxRows: 1 })
  for (const [number, row] of ['a', 'b', 'c'].entries()) await rows.take(row, number)
  await rows.end?.()
  expect(told).toEqual([[[0, 'a']]])
  answers[0]?.resolve()
  await eventually(async () => {
    await rows.take('d', 3)
    for (const answer of answers) answer.resolve()
    expect(told.flat()).toContainEqual([3, 'd'])
  })
})

test('a master that refuses a row does not fail the job', async () => {
  const rows = sendRows(async () => Promise.reject(new Error('no')))
  await rows.take('a', 0)
  await expect(rows.end?.()).resolves.toBeUndefined()
})
