import { expect, test } from 'vitest'
import { Disposer } from '../../../core/base/disposer.ts'

test('a disposer closes resources in reverse order, one after the other, and only once', async () => {
  const order: string[] = []
  const disposer = new Disposer()
  disposer.defer(() => order.push('first'))
  disposer.own({
    close: async () => {
      await Promise.resolve()
      order.push('second')
    },
  })
  await Promise.all([disposer.close(), disposer.close()])
  expect(order).toEqual(['second', 'first'])
})

test('a disposer closes the others if one fails, and reports the failure', async () => {
  const order: string[] = []
  const disposer = new Disposer()
  disposer.defer(() => order.push('closed'))
  disposer.defer(() => {
    throw new Error('stuck')
  })
  await expect(disposer.close()).rejects.toThrow('stuck')
  expect(order).toEqual(['closed'])
})

test('a disposer reports several failures together', async () => {
  const disposer = new Disposer()
  for (const name of ['a', 'b']) disposer.defer(() => Promise.reject(new Error(name)))
  await expect(disposer.close()).rejects.toThrow(AggregateError)
})

test('a disposer closes a resource that is added after the end', async () => {
  const disposer = new Disposer()
  await disposer.close()
  let closed = false
  disposer.defer(() => {
    closed = true
  })
  await disposer.close()
  expect(closed).toBe(true)
})
