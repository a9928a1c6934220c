import { beforeEach, describe, expect, test } from 'vitest'
import { Dispatcher, type DispatcherSettings } from '../../../core/transport/proxy/dispatcher.ts'

const EVERY_MS = 200

describe('the dispatcher of the device', () => {
  let time: number
  let given: { worker: string; id: number; payload: string }[]
  let replies: Record<string, string[]>
  let stuck: string[]
  /** The share of the time for which those that work have a processor. */
  let share: number
  let used: Record<string, number>
  let settings: DispatcherSettings
  let dispatcher: Dispatcher

  const request = (name: string, payload = Buffer.from(name)) =>
    dispatcher.request({
      payload,
      client: name,
      reply: (reply) => {
        replies[name] = [...(replies[name] ?? []), String(reply)]
      },
    })
  const answer = (payload: string, by = given.findLast((g) => g.payload === payload)?.worker) => {
    const id = given.find((g) => g.payload === payload)?.id
    dispatcher.answer(by ?? '', id ?? 0, Buffer.from(`${payload}!`))
  }
  /** Time passes; all workers but these answer their probes. */
  const pass = (ms: number, ...silent: string[]) => {
    for (let end = time + ms; time < end; ) {
      time += EVERY_MS
      for (const worker of dispatcher.workers.keys()) if (!silent.includes(worker)) dispatcher.alive(worker)
      for (const worker of Object.keys(used)) used[worker]! += EVERY_MS * share
      dispatcher.check(EVERY_MS)
    }
  }
  const workersOf = (payload: string) => given.filter((g) => g.payload === payload).map((g) => g.worker)

  beforeEach(() => {
    time = 1000
    given = []
    replies = {}
    stuck = []
    used = {}
    share = 1
    settings = {
      stuckMs: 800,
      maxOutstanding: 1000,
      maxBytes: 10_000,
      refusal: Buffer.from('refused'),
      now: () => time,
      toWorker: (worker, id, payload) => void given.push({ worker, id, payload: String(payload) }),
      onStuck: (worker) => void stuck.push(worker),
      workOf: (worker) => ({ isWorking: worker in used, usedMs: used[worker] ?? 0 }),
    }
    dispatcher = new Dispatcher(settings)
  })

  test('queues requests until there is a worker', () => {
    request('a')
    expect(given).toEqual([])
    dispatcher.ready('w1')
    answer('a')
    expect(replies).toEqual({ a: ['a!'] })
    expect(dispatcher.outstanding).toBe(0)
  })

  test('gives a request to the worker with the fewest requests', () => {
    dispatcher.ready('w1')
    dispatcher.ready('w2')
    for (const name of ['a', 'b', 'c']) request(name)
    expect(given.map((g) => g.worker)).toEqual(['w1', 'w2', 'w1'])
    answer('a')
    answer('c')
    request('d')
    expect(workersOf('d')).toEqual(['w1'])
    expect([...dispatcher.workers].map(([name, { outstanding }]) => [name, outstanding])).toEqual([
      ['w1', 1],
      ['w2', 1],
    ])
  })

  test('gives a worker no more requests than its limit, and the rest when it has answered', () => {
    dispatcher.ready('w1')
    for (let i = 0; i < 300; i++) request(`${i}`)
    expect(given.length).toBe(256)
    answer('7')
    expect(given.length).toBe(257)
    expect(given.at(-1)?.payload).toBe('256')
  })

  test('gives a worker at most 1 MiB of large requests, or a single one, and small ones at once', () => {
    dispatcher = new Dispatcher({ ...settings, maxBytes: 10 ** 8 })
    const large = (name: string, size: number) => request(name, Buffer.alloc(size, name))
    dispatcher.ready('w1')
    large('a', 2 ** 21)
    large('b', 2 ** 19)
    large('c', 2 ** 19)
    large('d', 2 ** 19)
    request('small')
    const names = () => given.map(({ payload }) => payload.slice(0, 5))
    expect(names()).toEqual(['aaaaa', 'small'])
    answer(given[0]!.payload)
    expect(names()).toEqual(['aaaaa', 'small', 'bbbbb', 'ccccc'])
    answer(given[2]!.payload)
    expect(names().at(-1)).toBe('ddddd')
  })

  test('refuses requests beyond its limit at once', () => {
    for (let i = 0; i <= 1000; i++) request(`${i}`)
    expect(replies).toEqual({ 1000: ['refused'] })
  })

  test('refuses requests of a client beyond its share at once, until earlier ones have been answered', () => {
    const flood = () => request('greedy', Buffer.from('flood'))
    for (let i = 0; i < 33; i++) flood()
    expect(replies).toEqual({ greedy: ['refused'] })
    request('modest')
    expect(replies.modest).toBeUndefined()
    dispatcher.ready('w1')
    answer('flood')
    flood()
    expect(replies.greedy?.filter((reply) => reply === 'refused')).toHaveLength(1)
  })

  test('refuses requests that need too much memory at once', () => {
    request('big', Buffer.alloc(10_001))
    expect(replies).toEqual({ big: ['refused'] })
    request('small')
    expect(replies.small).toBeUndefined()
  })

  test('reports a worker that answers no probe within a second, and gives its requests to another one', () => {
    dispatcher.ready('w1')
    dispatcher.ready('w2')
    request('a')
    pass(600, 'w1')
    expect(stuck).toEqual([])
    pass(200, 'w1')
    expect(stuck).toEqual(['w1'])
    expect(workersOf('a')).toEqual(['w1', 'w2'])
    answer('a', 'w2')
    expect(replies).toEqual({ a: ['a!'] })
    pass(2000, 'w1')
    expect(stuck).toEqual(['w1'])
  })

  test('waits longer for a silent worker that uses its processor, and longer still for one with a large request', () => {
    dispatcher.ready('w1')
    dispatcher.ready('w2')
    used = { w1: 0, w2: 0 }
    request('x'.repeat(8_000))
    request('')
    pass(3_200, 'w1', 'w2')
    expect(stuck).toEqual([])
    pass(200, 'w1', 'w2')
    expect(stuck).toEqual(['w2'])
    pass(200, 'w1')
    expect(stuck).toEqual(['w2', 'w1'])
  })

  test('waits longer for a silent worker that uses the processor, the smaller its share of it is', () => {
    dispatcher.ready('w1')
    dispatcher.ready('w2')
    used = { w1: 5_000 }
    share = 0.05
    request('')
    pass(64_000, 'w1')
    expect(stuck).toEqual([])
    pass(200, 'w1')
    expect(stuck).toEqual(['w1'])
  })

  test('gives a stuck worker no more requests, even if it wakes up', () => {
    dispatcher.ready('w1')
    request('a')
    pass(1000, 'w1')
    expect(stuck).toEqual(['w1'])
    dispatcher.alive('w1')
    dispatcher.ready('w1')
    request('b')
    expect(given.map(({ payload }) => payload)).toEqual(['a'])
  })

  test('expects answers to probes only from the time when a worker gets a request', () => {
    dispatcher.ready('w1')
    dispatcher.ready('w2')
    pass(60_000, 'w1')
    expect(stuck).toEqual([])
    request('a')
    expect([...dispatcher.busy()]).toEqual(['w1'])
    pass(600, 'w1')
    expect(stuck).toEqual([])
    pass(200, 'w1')
    expect(stuck).toEqual(['w1'])
    expect(workersOf('a')).toEqual(['w1', 'w2'])
    expect([...dispatcher.busy()]).toEqual(['w2'])
  })

  test('uses the answer of a worker that was given up if it is the first one, and never a second one', () => {
    dispatcher.ready('w1')
    request('a')
    pass(1000, 'w1')
    dispatcher.ready('w2')
    expect(workersOf('a')).toEqual(['w1', 'w2'])
    answer('a', 'w1')
    answer('a', 'w2')
    expect(replies).toEqual({ a: ['a!'] })
    expect(dispatcher.workers.get('w2')?.outstanding).toBe(0)
  })

  test('uses such an answer also while the request waits for another worker', () => {
    dispatcher.ready('w1')
    request('a')
    pass(1000, 'w1')
    answer('a', 'w1')
    dispatcher.ready('w2')
    expect(replies).toEqual({ a: ['a!'] })
    expect(workersOf('a')).toEqual(['w1'])
  })

  test('gives the requests of a worker that has ended to another one at once', () => {
    dispatcher.ready('w1')
    request('a')
    dispatcher.ready('w2')
    dispatcher.gone('w1')
    expect(workersOf('a')).toEqual(['w1', 'w2'])
    expect(stuck).toEqual([])
    expect([...dispatcher.workers.keys()]).toEqual(['w2'])
  })

  test('treats a new process with the name of an ended worker as a new worker', () => {
    dispatcher.ready('w1', 'first')
    request('a')
    dispatcher.ready('w1', 'first')
    expect(workersOf('a')).toEqual(['w1'])
    dispatcher.ready('w1', 'second')
    expect(workersOf('a')).toEqual(['w1', 'w1'])
    answer('a')
    expect(replies).toEqual({ a: ['a!'] })
  })

  test('refuses a request that has killed two workers', () => {
    dispatcher.ready('w1')
    request('poison')
    dispatcher.gone('w1')
    dispatcher.ready('w2')
    dispatcher.gone('w2')
    expect(replies).toEqual({ poison: ['refused'] })
    expect(dispatcher.outstanding).toBe(0)
  })

  test('answers all requests that were pending beside one that kills workers', () => {
    dispatcher.ready('w1')
    for (const name of ['a', 'poison', 'b', 'c']) request(name)
    let number = 1
    const work = () => {
      for (let i = 0; i < given.length; i++) {
        const { worker, payload } = given[i]!
        if (payload !== 'poison') answer(payload, worker)
      }
    }
    while (dispatcher.outstanding > 0 && number < 10) {
      dispatcher.gone(`w${number}`)
      dispatcher.ready(`w${++number}`)
      work()
    }
    expect(replies).toEqual({ a: ['a!'], b: ['b!'], c: ['c!'], poison: ['refused'] })
    expect(number).toBe(3)
  })

  test('gives a large request of a lost worker to another one, even if that has large requests', () => {
    dispatcher = new Dispatcher({ ...settings, maxBytes: 10 ** 8 })
    const large = (name: string, size: number) => request(name, Buffer.alloc(size, name))
    const first = (letter: string) => given.find(({ payload }) => payload.startsWith(letter))?.payload ?? ''
    dispatcher.ready('w1')
    large('a', 2 ** 20)
    request('b')
    dispatcher.ready('w2')
    large('c', 2 ** 15)
    dispatcher.gone('w1')
    expect(workersOf(first('a'))).toEqual(['w1', 'w2'])
    large('d', 2 ** 15)
    answer(first('c'))
    answer(first('a'))
    answer('b')
    answer(first('d'))
    expect(Object.values(replies).map((all) => all.length)).toEqual([1, 1, 1, 1])
  })

  test('does not count its own delay as silence of the workers', () => {
    dispatcher.ready('w1')
    request('a')
    time += 10_000
    dispatcher.check(EVERY_MS)
    expect(stuck).toEqual([])
    pass(600, 'w1')
    expect(stuck).toEqual([])
    pass(200, 'w1')
    expect(stuck).toEqual(['w1'])
  })

  test('gives no more requests to a worker that is ending, but accepts its answers', () => {
    dispatcher.ready('w1')
    request('a')
    dispatcher.leaving('w1')
    request('b')
    answer('a')
    expect(workersOf('b')).toEqual([])
    expect(replies).toEqual({ a: ['a!'] })
    pass(2000, 'w1')
    expect(stuck).toEqual([])
  })
})
