/** How a subscriber finds its masters by their messages over NATS. */
import type { NatsConnection } from '@nats-io/transport-node'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { decode } from '../../../../core/codec/index.ts'
import { ConnectionState } from '../../../../core/transport/connection-state.ts'
import { Masters } from '../../../../core/transport/nats/masters.ts'
import { packMessage } from '../../../../core/transport/nats/presence.ts'
import { Roster } from '../../../../core/transport/nats/roster.ts'
import { subjectsOf } from '../../../../core/transport/nats/subjects.ts'
import { SLOW } from '../../../harness/slow.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

function subscriber() {
  const hellos: unknown[] = []
  let hear: (message: { data: Uint8Array }) => void = () => {}
  const connection = {
    subscribe(_: string, { callback }: { callback(error: null, message: { data: Uint8Array }): void }) {
      hear = (message) => callback(null, message)
      return { unsubscribe: () => {} }
    },
    publish: (_: string, data: Uint8Array) => void hellos.push(decode(data)),
    isClosed: () => false,
  }
  const roster = new Roster()
  const state = new ConnectionState()
  const masters = new Masters({
    connection: connection as unknown as NatsConnection,
    subjects: subjectsOf('salt'),
    settings: { topics: ['t'], reconnectMs: 100, reconnectMaxMs: 1_000 },
    state,
    roster,
    name: 'me',
  })
  masters.found()
  const answer = (name: string, publisher = name) =>
    hear({ data: packMessage({ publisher, name, intervalMs: 5_000 }) })
  return { masters, roster, state, hellos, answer, wait: (ms: number) => vi.advanceTimersByTimeAsync(ms) }
}

test('it sends one hello at its start, and lists the masters that answer', async () => {
  const { roster, state, hellos, answer, wait } = subscriber()
  await wait(10)
  expect(hellos).toHaveLength(1)
  expect(state.isUp).toBe(false)
  answer('one')
  answer('two')
  expect(roster.names).toEqual(['one', 'two'])
  expect(state.isUp).toBe(true)
  await wait(6_000)
  expect(hellos).toHaveLength(2)
})

test('a master that does not answer a hello is removed', async () => {
  const { roster, answer, wait } = subscriber()
  await wait(10)
  for (const name of ['one', 'two']) answer(name)
  await wait(5_600)
  answer('two')
  await wait(3_000)
  expect(roster.names).toEqual(['two'])
})

test('a stopped master does not return by a late answer', async () => {
  const { masters, roster, answer, wait } = subscriber()
  const news = vi.fn()
  await wait(10)
  for (const name of ['one', 'two']) answer(name)
  roster.onMore(news)
  masters.notice({ publisher: 'one', state: 'down' })
  await wait(4_000)
  expect(roster.names).toEqual(['two'])
  expect(news).not.toHaveBeenCalled()
})

test('without any answer the connection is down, and hellos become less frequent', async () => {
  const { state, hellos, answer, wait } = subscriber()
  await wait(10)
  answer('one')
  await wait(10_000)
  expect(state.isUp).toBe(false)
  const before = hellos.length
  await wait(60_000)
  expect(hellos.length - before).toBeLessThan(25)
})

test('the number of masters is limited if foreign clients answer as masters', SLOW, async () => {
  const { roster, answer, wait } = subscriber()
  await wait(10)
  answer('one')
  for (let n = 0; n < 10_000; n++) answer(`stranger ${n}`)
  expect(roster.names).toHaveLength(64)
  expect(roster.names).toContain('one')
})

test('a master that announces its start gets requests for it at once, unless it does not answer', async () => {
  const { masters, roster, answer, wait } = subscriber()
  await wait(10)
  answer('one')
  expect(roster.choose('two')).toBe('one')
  masters.notice({ publisher: 'two', state: 'up', name: 'two' })
  expect(roster.choose('two')).toBe('two')
  expect(roster.names).toEqual(['one'])
  roster.remove('two')
  expect(roster.choose('two')).toBe('one')
  await wait(2_950)
  masters.notice({ publisher: 'two', state: 'up', name: 'two' })
  await wait(45) // the hello that was sent before it started is judged
  expect(roster.choose('two')).toBe('two')
  await wait(110)
  answer('one')
  await wait(3_000)
  expect(roster.choose('two')).toBe('one')
})
