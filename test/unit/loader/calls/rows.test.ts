import { expect, test } from 'vitest'
import { collectRows } from '../../../../core/loader/calls/rows.ts'

const none = undefined

test('the value of a function is the list of the rows it yields, unless it returns one itself', async () => {
  async function* rows() {
    yield { a: 1 }
    yield { a: 2 }
  }
  async function* rowsAndMore() {
    yield 1
    return 'in short'
  }
  expect(await collectRows(rows(), none, none)).toEqual([{ a: 1 }, { a: 2 }])
  expect(await collectRows(rowsAndMore(), none, none)).toBe('in short')
  expect(await collectRows([1, 2], none, none)).toEqual([1, 2])
  expect(await collectRows(null, none, none)).toBeNull()
})

test('each row is passed on before the next is made', async () => {
  const order: string[] = []
  async function* rows() {
    for (const name of ['a', 'b']) {
      order.push(`made ${name}`)
      yield name
    }
  }
  const take = async (row: unknown, number: number) => void order.push(`told ${String(row)} ${number}`)
  const end = async () => void order.push('no more')
  await collectRows(rows(), { take, end }, none)
  expect(order).toEqual(['made a', 'told a 0', 'made b', 'told b 1', 'no more'])
})

test('ending a job lets its function clean up', async () => {
  const abort = new AbortController()
  let cleaned = false
  async function* rows() {
    try {
      for (;;) yield 1
    } finally {
      cleaned = true
    }
  }
  const ended = collectRows(rows(), { take: async () => abort.abort(new Error('killed')) }, abort.signal)
  await expect(ended).rejects.toThrow('killed')
  expect(cleaned).toBe(true)
})
