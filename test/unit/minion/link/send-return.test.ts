import { afterEach, expect, test } from 'vitest'
import { type Deferred, deferred } from '../../../../core/base/deferred.ts'
import { sendReturn } from '../../../../core/minion/link/send-return.ts'

const unhandled: unknown[] = []
process.on('unhandledRejection', (error) => unhandled.push(error))
afterEach(() => {
  expect(unhandled.splice(0)).toEqual([])
})

function master(isUp: boolean, cluster?: string) {
  const listeners = new Set<() => void>()
  const asked: { readonly to: unknown; readonly answer: Deferred<unknown> }[] = []
  return {
    asked,
    cluster,
    publishConnection: { isUp, established: 1 },
    onChange(listener: () => void) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    request(_: unknown, to: unknown) {
      const answer = deferred<unknown>()
      asked.push({ to, answer })
      return answer.promise
    },
    becomes(up: boolean) {
      this.publishConnection.isUp = up
      for (const listener of listeners) listener()
    },
    get isObserved() {
      return listeners.size > 0
    },
  }
}

const ret = { jid: '20261126000000000000', cluster_id: 'north', master_id: 'one' }

test('a return is sent to the master that published its job while that is connected', async () => {
  const [one, two] = [master(true, 'north'), master(true, 'north')]
  const sent = sendReturn(ret, one, [one, two])
  one.asked[0]?.answer.resolve('taken')
  expect(await sent).toBe('taken')
  expect(one.asked[0]?.to).toEqual({ prefer: 'one' })
  expect(two.asked).toEqual([])
  expect(one.isObserved || two.isObserved).toBe(false)
})

test('it is sent to a connected master of the same cluster, if its own is not, and to no other', async () => {
  const [one, two, three] = [master(false), master(true, 'south'), master(true, 'north')]
  const sent = sendReturn(ret, one, [one, two, three])
  three.asked[0]?.answer.resolve('taken')
  expect(await sent).toBe('taken')
  expect([one.asked, two.asked]).toEqual([[], []])
})

test('without a cluster it waits for its own master', () => {
  const [one, two] = [master(false), master(true)]
  void sendReturn({ ...ret, cluster_id: undefined }, one, [one, two])
  expect([one.asked.length, two.asked.length]).toEqual([1, 0])
})

test('it is sent once to another master that connects later, however often connections change', async () => {
  const [one, two] = [master(false), master(false, 'north')]
  const sent = sendReturn(ret, one, [one, two])
  two.becomes(true)
  two.becomes(false)
  two.becomes(true)
  await Promise.resolve()
  expect(two.asked).toHaveLength(1)
  one.asked[0]?.answer.resolve('taken')
  expect(await sent).toBe('taken')
  two.asked[0]?.answer.reject(new Error('lost'))
  await new Promise((resolve) => setImmediate(resolve))
})
