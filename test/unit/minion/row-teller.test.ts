import { expect, test } from 'vitest'
import { deferred } from '../../../core/base/deferred.ts'
import { tellRows } from '../../../core/minion/row-teller.ts'
import { eventually } from '../../harness/until.ts'

test('rows are told one after the other, each when the one before has been answered', async () => {
  const told: unknown[] = []
  const onRow = tellRows(async (row, number) => void told.push([row, number]))
  await onRow('a', 0)
  await onRow('b', 1)
  expect(told).toEqual([
    ['a', 0],
    ['b', 1],
  ])
})

test('a master that does not answer holds the job up once; when it is back it is told what comes next', async () => {
  const told: unknown[] = []
  const answer = deferred<void>()
  const onRow = tellRows((row) => {
    told.push(row)
    return told.length === 1 ? answer.promise : Promise.resolve()
  }, 1)
  for (const [number, row] of ['a', 'b', 'c'].entries()) await onRow(row, number)
  expect(told).toEqual(['a'])
  answer.resolve()
  await answer.promise.then(() => {})
  await eventually(async () => {
    await onRow('d', 3)
    expect(told).toEqual(['a', 'd'])
  })
})

test('a master that refuses a row is no reason for the job to fail', async () => {
  await expect(tellRows(async () => Promise.reject(new Error('no')))('a', 0)).resolves.toBeUndefined()
})
