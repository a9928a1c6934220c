import { expect, test, vi } from 'vitest'
import { Subscriptions } from '../../../core/events/subscriptions.ts'

const event = (tag: string) => ({ tag, event: vi.fn(() => ({ tag, data: {} })) })
const count = (subscription: { shift(): unknown }) => {
  let found = 0
  while (subscription.shift()) found++
  return found
}

test('an event is delivered once to each subscription with a prefix of its tag, and decoded once', () => {
  const subscriptions = new Subscriptions()
  const [all, job, both, other] = [
    subscriptions.add(''),
    subscriptions.add('salt/job/1/'),
    subscriptions.add(['salt/job/', 'salt/job/1/']),
    subscriptions.add('salt/job/2/'),
  ]
  const told = event('salt/job/1/new')
  subscriptions.deliver(told, 1)
  expect([all, job, both, other].map(count)).toEqual([1, 1, 1, 0])
  expect(told.event).toHaveBeenCalledTimes(1)
})

test('an event without a matching subscription is not decoded', () => {
  const subscriptions = new Subscriptions()
  subscriptions.add('salt/run/')
  subscriptions.add((tag) => tag === 'other')
  const told = event('salt/job/1/new')
  subscriptions.deliver(told, 1)
  expect(told.event).not.toHaveBeenCalled()
})

test('prefixes can be added and removed while a subscription is active', () => {
  const subscriptions = new Subscriptions()
  const subscription = subscriptions.add([])
  subscriptions.deliver(event('a/1'), 1)
  subscription.include('a/')
  subscription.include('b/')
  subscriptions.deliver(event('a/2'), 1)
  subscription.exclude('a/')
  subscriptions.deliver(event('a/3'), 1)
  subscriptions.deliver(event('b/1'), 1)
  expect(count(subscription)).toBe(2)
})

test('an aborted subscription gets no more events and is removed', () => {
  const subscriptions = new Subscriptions()
  const leaving = new AbortController()
  const subscription = subscriptions.add(['a/', 'b/'], leaving.signal)
  leaving.abort()
  subscriptions.deliver(event('a/1'), 1)
  expect(count(subscription)).toBe(0)
  expect(subscriptions.size).toBe(0)
  expect(subscriptions.add('a/', leaving.signal).closed).toBe(true)
})
