import { afterEach, expect, test } from 'vitest'
import { deferred } from '../../../../core/base/deferred.ts'
import { Failover, type FailoverTimes } from '../../../../core/minion/link/failover.ts'
import { quietLog } from '../../../harness/log.ts'
import { SLOW } from '../../../harness/slow.ts'
import { until } from '../../../harness/until.ts'

const TIMES: FailoverTimes = { tryMs: 200, graceMs: 100, pauseMs: 20, failbackMs: 0 }

/** A master whose connection the test controls. */
class Fake {
  readonly address: string
  readonly publishConnection = { isUp: false }
  isListening = true
  /** Whether it accepts the minion. */
  accepts = true
  /** Set to let the minion give up on it. */
  refusal: Error | undefined
  runs = 0
  isServing = false
  onChange: () => void = () => {}

  constructor(address: string) {
    this.address = address
  }

  async run(signal: AbortSignal): Promise<void> {
    this.runs++
    if (this.refusal) throw this.refusal
    this.isServing = true
    const over = deferred()
    signal.addEventListener('abort', () => over.resolve())
    if (this.accepts) this.set(true)
    await over.promise
    this.isServing = false
    this.set(false)
  }

  set(isUp: boolean): void {
    this.publishConnection.isUp = isUp
    this.onChange()
  }
}

let closing: AbortController
let running: Promise<unknown>
afterEach(async () => {
  closing.abort()
  await running
})

function start(masters: readonly Fake[], times: Partial<FailoverTimes> = {}, maxRounds = -1) {
  closing = new AbortController()
  const failover = new Failover({
    masters,
    times: { ...TIMES, ...times },
    maxRounds,
    isReachable: async ({ isListening }) => isListening,
    log: quietLog,
    closing: closing.signal,
  })
  for (const master of masters) master.onChange = () => failover.connectionChanged()
  running = failover.run().catch((error: unknown) => error)
  return failover
}

const served = (failover: Failover<Fake>, by: Fake) =>
  until(`the master ${by.address}`, () => failover.current === by && by.publishConnection.isUp)

const fakes = () => [new Fake('a:1'), new Fake('b:1'), new Fake('c:1')] as const

test('only the first master serves', async () => {
  const [a, b, c] = fakes()
  const failover = start([a, b, c])
  await served(failover, a)
  await failover.firstRound
  expect([a.runs, b.runs, c.runs]).toEqual([1, 0, 0])
})

test('a master that does not listen, or does not accept the minion in time, is skipped', SLOW, async () => {
  const [a, b, c] = fakes()
  a.isListening = false
  b.accepts = false
  await served(start([a, b, c]), c)
  expect([a.runs, b.runs]).toEqual([0, 1])
  expect(b.isServing).toBe(false)
})

test('a master that the minion gives up is skipped', async () => {
  const [a, b, c] = fakes()
  a.refusal = new Error('its key was rejected')
  await served(start([a, b, c]), b)
})

test('a connection that returns within the grace time changes nothing', async () => {
  const [a, b, c] = fakes()
  const failover = start([a, b, c], { graceMs: 60_000 })
  await served(failover, a)
  a.set(false)
  a.set(true)
  await served(failover, a)
  expect(b.runs).toBe(0)
})

test('a lost master is replaced by the next one, and the last one by the first', SLOW, async () => {
  const [a, b, c] = fakes()
  const failover = start([a, b, c])
  for (const [lost, next] of [
    [a, b],
    [b, c],
    [c, a],
  ] as const) {
    await served(failover, lost)
    lost.set(false)
    await served(failover, next)
    await until('the end of the lost one', () => !lost.isServing)
  }
})

test('with failback the minion returns to the first master when it can be used again', async () => {
  const [a, b, c] = fakes()
  a.isListening = false
  const failover = start([a, b, c], { failbackMs: 30 })
  await served(failover, b)
  a.isListening = true
  await served(failover, a)
  await until('the end of the other one', () => !b.isServing)
})

test(
  'a first master that cannot serve does not interrupt the connection to the other one',
  SLOW,
  async () => {
    const [a, b, c] = fakes()
    a.accepts = false
    const failover = start([a, b, c], { failbackMs: 30, tryMs: 50 })
    await served(failover, b)
    await until('attempts to go back', () => a.runs > 2)
    expect(failover.current).toBe(b)
    expect(b.publishConnection.isUp).toBe(true)
  },
)

test('a master that is lost while the first one is tried is replaced by the next one', SLOW, async () => {
  const [a, b, c] = fakes()
  a.accepts = false
  const failover = start([a, b, c], { failbackMs: 30, tryMs: 50 })
  await served(failover, b)
  b.set(false)
  await served(failover, c)
})

test('without any master it tries again, and gives up after master_tries rounds', async () => {
  const masters = fakes()
  for (const master of masters) master.isListening = false
  const failover = start(masters, {}, 3)
  await failover.firstRound
  expect(await running).toMatchObject({
    code: 'MASTER_UNREACHABLE',
    message: expect.stringContaining(
      'None of the masters a:1, b:1, c:1 could be used in 3 rounds (master_tries).',
    ),
  })
})

test('without a limit it tries until a master is found', async () => {
  const [a, b, c] = fakes()
  for (const master of [a, b, c]) master.isListening = false
  const failover = start([a, b, c])
  await failover.firstRound
  c.isListening = true
  await served(failover, c)
})

test('a minion that closes ends its run', async () => {
  const [a, b, c] = fakes()
  await served(start([a, b, c]), a)
  closing.abort()
  expect(await running).toBeUndefined()
  expect(a.isServing).toBe(false)
})
