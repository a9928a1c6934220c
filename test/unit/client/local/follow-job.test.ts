import { mkdir, writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Log } from '../../../../core/author/context.ts'
import { SaltError } from '../../../../core/base/errors.ts'
import { hasReturned, type MinionResult, type PublishedJob } from '../../../../core/client/local/contract.ts'
import { findJobSlots } from '../../../../core/client/local/find-job-queue.ts'
import { collectResults } from '../../../../core/client/local/follow-job.ts'
import { JobEvents } from '../../../../core/client/local/job-events.ts'
import { localRecords } from '../../../../core/client/local/master-records.ts'
import { PendingReturns } from '../../../../core/client/local/pending-returns.ts'
import { connectedFile, jobCacheDirectory } from '../../../../core/config/cachedir.ts'
import { loadMasterConfig, type MasterConfig } from '../../../../core/config/index.ts'
import { EventBus, EventPublisher, masterEventSockets, tags } from '../../../../core/events/index.ts'
import { JobCache } from '../../../../core/jobs/job-cache.ts'
import { createLogger } from '../../../../core/log/index.ts'
import { fakeLog } from '../../../../core/testing/recording-log.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { SLOW } from '../../../harness/slow.ts'
import { until } from '../../../harness/until.ts'

const JID = '20261121000000000001'
const QUESTION = '20261121000000000002'
const ret = (value: unknown, fun = 'cmd.run') => ({ jid: JID, fun, return: value, retcode: 0, success: true })

let folder: string
let config: MasterConfig
let publisher: EventPublisher
let bus: EventBus

beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-wait-')
  const overrides = { root_dir: folder, pki_dir: '/pki', cachedir: '/cache', sock_dir: '/run' }
  config = loadMasterConfig({ configDir: folder, overrides }).config
  await mkdir(config.sock_dir, { recursive: true })
  publisher = await openPublisher()
  bus = await EventBus.connect(masterEventSockets(config))
})
afterEach(async () => {
  await bus.close()
  await publisher.close()
  await removeFolder(folder)
})

const openPublisher = () => EventPublisher.open({ ...masterEventSockets(config), maxEventSize: 1_048_576 })

async function store(jid: string, id: string, value: unknown): Promise<void> {
  const cache = JobCache.open(jobCacheDirectory(config))
  await cache.saveReturn(jid, id, { ...ret(value), id })
  await cache.close()
}

interface Wait {
  readonly minions?: readonly string[]
  readonly missing?: readonly string[]
  readonly unknown?: readonly string[]
  readonly timeout?: number
  readonly gather?: number
  readonly waiting?: readonly string[]
  readonly findJob?: (minions: readonly string[]) => Promise<PublishedJob>
  readonly signal?: AbortSignal
  readonly log?: Log
}

/** A job that runs; what comes of it is added to `results`, `over` resolves with all of them. */
function wait({
  minions = ['a', 'b'],
  missing = [],
  unknown = [],
  timeout = 60,
  gather = 60,
  waiting,
  findJob,
  signal,
  log,
}: Wait) {
  const results: MinionResult[] = []
  const events = new JobEvents(bus, signal)
  const delivery = waiting && { until: new Date(Date.now() + 3_600_000), waiting }
  const job = { jid: JID, minions, missing, unknown, ...(delivery && { delivery }) }
  const published = events.publishAndListen(async () => job)
  const pending = new PendingReturns(job, Date.now() + timeout * 1000)
  const stream = collectResults({
    pending,
    events,
    timeout,
    gatherJobTimeout: gather,
    findJob: async (_, ids) => (findJob ? findJob(ids) : { jid: QUESTION, minions: ids, missing: [] }),
    findJobSlots: findJobSlots(bus),
    records: localRecords(config),
    log,
  })
  const over = (async () => {
    await published
    for await (const result of stream) results.push(result)
    return results
  })()
  return { results, over, counts: () => pending.counts() }
}

const returns = (id: string, value: unknown) =>
  publisher.publish(tags.jobReturn(JID, id), { ...ret(value), id })
const answers = (id: string, value: unknown) =>
  publisher.publish(tags.jobReturn(QUESTION, id), { id, return: value, jid: QUESTION })
const gist = (results: readonly MinionResult[]) =>
  results.map((result) => [result.id, hasReturned(result) ? result.return : result.reason])

test('results come as they are announced, each minion once, and end when all have returned', async () => {
  const { over } = wait({})
  returns('b', 1)
  returns('b', 2)
  publisher.publish(tags.jobReturn('20261121000000000009', 'a'), { ...ret('another job'), id: 'a' })
  returns('a', 3)
  expect(gist(await over)).toEqual([
    ['b', 1],
    ['a', 3],
  ])
})

test('the log names the minions that are awaited, those that have returned, and the end, in the words of Salt', async () => {
  const lines: string[] = []
  const log = createLogger({
    program: 'salt',
    console: { level: 'debug', stream: { write: (text) => lines.push(text) } },
    formats: { log_fmt_console: '%(message)s' },
  })
  const { over } = wait({ log })
  returns('b', 1)
  returns('a', 2)
  await over
  const until = '\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z'
  expect(lines.shift()).toMatch(
    new RegExp(`^get_iter_returns for jid ${JID} sent to \\["a","b"\\] will timeout at ${until}\n$`),
  )
  expect(lines).toEqual([
    `jid ${JID} return from b\n`,
    `jid ${JID} return from a\n`,
    `jid ${JID} found all minions ["a","b"]\n`,
  ])
})

test('the log names the minions that are asked, and those that did not return', async () => {
  const { log, lines } = fakeLog()
  const findJob = async () => ({ jid: QUESTION, minions: [], missing: ['b'] })
  await wait({ minions: ['b'], timeout: 0, findJob, log }).over
  expect(lines.slice(1)).toEqual([
    {
      level: 'debug',
      message: 'Checking whether jid {jid} is still running',
      facts: { jid: JID, minions: ['b'] },
    },
    {
      level: 'info',
      message: 'jid {jid} minions {silent} did not return in time',
      facts: { jid: JID, silent: ['b'] },
    },
  ])
})

test('a minion that is added later is awaited, too', async () => {
  const { over, results } = wait({ minions: ['a'] })
  publisher.publish(tags.jobNew(JID), { jid: JID, minions: ['a', 'c'] })
  returns('a', 1)
  await until('the first result', () => results.length === 1)
  returns('c', 2)
  expect(gist(await over)).toEqual([
    ['a', 1],
    ['c', 2],
  ])
})

test(
  'silent minions are asked: those that run the job are awaited, the others are missing with that reason',
  SLOW,
  async () => {
    const asked: (readonly string[])[] = []
    const findJob = async (minions: readonly string[]) => {
      asked.push(minions)
      queueMicrotask(() => {
        for (const id of minions) {
          if (id === 'b') answers('b', {})
          else if (asked.length < 3) answers('a', { jid: JID })
          else returns('a', 'late')
        }
      })
      return { jid: QUESTION, minions, missing: [] }
    }
    const { over } = wait({ timeout: 0.05, findJob })
    expect(gist(await over)).toEqual([
      ['a', 'late'],
      ['b', expect.stringMatching(/^Minion did not return\. \[Not running\]\nState: unknown\. /)],
    ])
    expect(asked.flat().sort()).toEqual(['a', 'a', 'a', 'b', 'b'])
  },
)

test('a return that arrives after the answer that its job does not run is not lost', SLOW, async () => {
  const findJob = async (minions: readonly string[]) => {
    queueMicrotask(() => answers('a', {}))
    setTimeout(() => returns('a', 'just behind'), 100)
    return { jid: QUESTION, minions, missing: [] }
  }
  const { over } = wait({ minions: ['a'], timeout: 0.05, findJob })
  expect(gist(await over)).toEqual([['a', 'just behind']])
})

test('a minion that does not even answer is missing, with the command to look up the job', async () => {
  const { over } = wait({ minions: ['a'], timeout: 0.05, gather: 0.05 })
  expect(gist(await over)).toEqual([
    ['a', expect.stringMatching(/\[No response\]\n(?:.|\n)*salt-run jobs\.lookup_jid 20261121000000000001/)],
  ])
})

test(
  'a minion that was given up and returns while others are awaited has returned, and is not missing',
  SLOW,
  async () => {
    const findJob = async (minions: readonly string[]) => {
      queueMicrotask(() => answers('b', { jid: JID }))
      return { jid: QUESTION, minions, missing: [] }
    }
    const { over, results } = wait({ timeout: 0.1, gather: 0.1, findJob })
    setTimeout(() => returns('a', 'late'), 400)
    await until('the late return', () => results.length === 1)
    returns('b', 'done')
    expect(gist(await over)).toEqual([
      ['a', 'late'],
      ['b', 'done'],
    ])
  },
)

test('minions without accepted key are missing, those that lose it while the job runs as well', async () => {
  const findJob = () => Promise.reject(new SaltError('NO_MINIONS_MATCHED', 'none'))
  const { over } = wait({ minions: ['a'], missing: ['ghost'], timeout: 0.05, findJob })
  expect(gist(await over)).toEqual([
    ['ghost', expect.stringContaining('No accepted key')],
    ['a', expect.stringContaining('No accepted key')],
  ])
})

test(
  'an unknown minion that does not return is missing only if it answered that it runs the job',
  SLOW,
  async () => {
    let asked = 0
    const { over } = wait({
      minions: ['a', 'b', 'c', 'd'],
      unknown: ['a', 'b', 'd'],
      timeout: 0.05,
      gather: 0.5,
      findJob: async (minions) => {
        setTimeout(() => {
          answers('a', {})
          answers('b', ++asked === 1 ? { jid: JID } : {})
          answers('c', {})
          returns('d', 'meant')
        }, 20)
        return { jid: QUESTION, minions, missing: [] }
      },
    })
    const ends = new Map((await over).map((result) => [result.id, result.state]))
    expect(Object.fromEntries(ends)).toEqual({ a: 'unknown', b: 'missing', c: 'missing', d: 'returned' })
  },
)

test('returns during an outage of the event bus are read from the job cache as soon as it is back', async () => {
  const { over, results } = wait({ minions: ['a', 'b', 'c'] })
  returns('c', 'before')
  await until('the first result', () => results.length === 1)
  await publisher.close()
  await store(JID, 'a', 'meanwhile')
  await store(JID, 'c', 'before')
  publisher = await openPublisher()
  await until('the return of the time between', () => results.length === 2)
  returns('a', 'announced again')
  returns('b', 'after')
  expect(gist(await over)).toEqual([
    ['c', 'before'],
    ['a', 'meanwhile'],
    ['b', 'after'],
  ])
})

test('after a restart of the master minions get time to reconnect before they are asked', SLOW, async () => {
  const findJob = vi.fn(async (minions: readonly string[]) => ({ jid: QUESTION, minions, missing: [] }))
  const { over } = wait({ minions: ['a'], timeout: 0.3, gather: 0.3, findJob })
  const reconnected = new Promise<void>((resolve) => bus.onReconnect(resolve))
  await publisher.close()
  publisher = await openPublisher()
  await reconnected
  setTimeout(() => returns('a', 'done'), 1000)
  expect(gist(await over)).toEqual([['a', 'done']])
  expect(findJob).not.toHaveBeenCalled()
})

test.each([
  ['that cannot be reached', 'MASTER_UNREACHABLE'],
  ['that was given a new key while it was asked', 'AUTHENTICATION_FAILED'],
] as const)('a master %s is awaited', async (_, code) => {
  const findJob = vi.fn(() => Promise.reject(new SaltError(code, 'not now')))
  const { over } = wait({ minions: ['a'], timeout: 0.02, gather: 0.02, findJob })
  await until('a third attempt', () => findJob.mock.calls.length >= 3)
  returns('a', 'done')
  expect(gist(await over)).toEqual([['a', 'done']])
})

test(
  'minions that have just lost their connection are awaited once more before they are asked',
  SLOW,
  async () => {
    await mkdir(config.cachedir, { recursive: true })
    const connections = { present: ['c'], lost: ['a', 'b', 'd'], reconnecting: ['a', 'b'] }
    await writeFile(connectedFile(config), JSON.stringify(connections))
    const asked: string[][] = []
    const findJob = async (ids: readonly string[]) => {
      asked.push([...ids])
      return { jid: QUESTION, minions: ids, missing: [] }
    }
    const { over, counts } = wait({ minions: ['a', 'b', 'c', 'd'], timeout: 0.2, gather: 0.2, findJob })
    await until('the others to be asked', () => asked.length > 0)
    expect(asked[0]).toEqual(['c', 'd'])
    expect(counts()).toMatchObject({ silent: 4, reconnecting: 2 })
    returns('a', 'back')
    await until('the one that is not back to be asked', () => asked.length > 1)
    expect(asked[1]).toEqual(['b'])
    expect(counts()).toMatchObject({ returned: 1, reconnecting: 0 })
    const results = await over
    expect(results.map(({ id, jobState }) => [id, jobState])).toEqual([
      ['a', 'returned'],
      ['b', 'not_connected'],
      ['c', 'unknown'],
      ['d', 'not_connected'],
    ])
  },
)

test('minions with a waiting job are not awaited, unless they take it meanwhile', SLOW, async () => {
  const { over, results, counts } = wait({ minions: ['a', 'b', 'c'], waiting: ['b', 'c'] })
  expect(counts()).toMatchObject({ silent: 1, waiting: 2, missing: 0 })
  await bus.fire(tags.jobDelivery(JID, 'delivered', 'b'), { jid: JID, id: 'b' })
  await bus.fire(tags.jobReturn(JID, 'a'), { ...ret('A'), id: 'a' })
  await until('the return of a', () => results.length === 1)
  expect(counts()).toMatchObject({ returned: 1, running: 1, waiting: 1 })
  await bus.fire(tags.jobReturn(JID, 'b'), { ...ret('B'), id: 'b' })
  const [, , last] = await over
  expect(last).toMatchObject({ id: 'c', state: 'waiting', jobState: 'waiting' })
  expect(last).toMatchObject({ reason: expect.stringContaining('To cancel it: salt-run jobs.cancel') })
})

test('a job that expires or is cancelled meanwhile is no longer waiting', async () => {
  const { over } = wait({ minions: ['a', 'b', 'c'], waiting: ['b', 'c'] })
  await bus.fire(tags.jobDelivery(JID, 'expired', 'b'), { jid: JID, id: 'b' })
  await bus.fire(tags.jobDelivery(JID, 'cancelled', 'c'), { jid: JID, id: 'c' })
  await bus.fire(tags.jobReturn(JID, 'a'), { ...ret('A'), id: 'a' })
  expect((await over).map(({ id, state, jobState }) => [id, state, jobState])).toEqual([
    ['a', 'returned', 'returned'],
    ['b', 'missing', 'expired'],
    ['c', 'missing', 'cancelled'],
  ])
})

test('a minion that does not answer, and has not taken its waiting job, has the state waiting', async () => {
  const cache = JobCache.open(jobCacheDirectory(config))
  const deliver = { untilMs: Date.now() + 3_600_000, takers: ['a', 'b'] }
  await cache.create(JID, { fun: 'test.ping', arg: [] }, ['a', 'b'], { deliver })
  await cache.deliveries.take(JID, 'b', Date.now())
  await cache.close()
  const { over } = wait({ waiting: [], timeout: 0.05, gather: 0.05 })
  const found = (await over).map(({ id, jobState }) => [id, jobState])
  expect(Object.fromEntries(found)).toEqual({ a: 'waiting', b: 'unknown' })
})

test('if the master stays down, this is the reason', async () => {
  const now = Date.now
  let ahead = 0
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + ahead)
  const findJob = () => {
    ahead += 70_000
    return Promise.reject(new SaltError('MASTER_UNREACHABLE', 'nobody there'))
  }
  const { over } = wait({ minions: ['a'], timeout: 0.02, gather: 0.02, findJob })
  expect(gist(await over)).toEqual([['a', expect.stringContaining('The master became unreachable')]])
  clock.mockRestore()
})

test('every minion that is given up has the state that the job had reached there', SLOW, async () => {
  const lost = JSON.stringify({ present: ['silent'], lost: ['gone'] })
  await mkdir(config.cachedir, { recursive: true })
  await writeFile(connectedFile(config), lost)
  let asked = 0
  const findJob = async (minions: readonly string[]) => {
    queueMicrotask(() => {
      answers('queued', asked++ ? {} : { jid: JID, state: 'queued' })
      answers('idle', {})
    })
    return { jid: QUESTION, minions, missing: [] }
  }
  const minions = ['silent', 'gone', 'began', 'queued', 'idle']
  const { over } = wait({ minions, missing: ['ghost'], timeout: 0.3, gather: 0.3, findJob })
  publisher.publish(tags.jobStart(JID, 'began'), { jid: JID, id: 'began' })
  const states = (await over).map((result) => [result.id, result.jobState, result.why])
  expect(Object.fromEntries(states.map(([id, state]) => [id, state]))).toEqual({
    ghost: 'key_not_accepted',
    silent: 'unknown',
    gone: 'not_connected',
    began: 'timed_out',
    queued: 'unknown',
    idle: 'unknown',
  })
  expect(Object.fromEntries(states.map(([id, , why]) => [id, why]))).toMatchObject({
    began: expect.stringContaining('the job was running'),
    queued: expect.stringContaining('the job was queued'),
    idle: expect.stringContaining('is not running the job'),
  })
})

test('an abort ends the wait at once, with its reason, and leaves no subscription', async () => {
  const leaving = new AbortController()
  const { over } = wait({ signal: leaving.signal })
  const failed = expect(over).rejects.toThrow('the reader is gone')
  await until('somebody to listen', () => bus.listening > 0)
  leaving.abort(new Error('the reader is gone'))
  await failed
  expect(bus.listening).toBe(0)
})

test(
  'of many waits with silent minions only a few ask at a time, and each asks in the end',
  SLOW,
  async () => {
    const WAITS = 200
    let [now, most, asked] = [0, 0, 0]
    const findJob = async (minions: readonly string[]) => {
      most = Math.max(most, ++now)
      await new Promise((passed) => setTimeout(passed, 2))
      now--
      asked++
      return { jid: QUESTION, minions, missing: [] }
    }
    const waits = Array.from({ length: WAITS }, () =>
      wait({ minions: ['a'], timeout: 0.01, gather: 0.05, findJob }),
    )
    const results = (await Promise.all(waits.map(({ over }) => over))).flat()
    expect(results.map(({ state }) => state)).toEqual(Array(WAITS).fill('missing'))
    expect(asked).toBe(WAITS)
    expect(most).toBe(16)
  },
)

test('a return that comes while its wait queues up to ask is used, and no minion is asked', async () => {
  const turns = findJobSlots(bus)
  const taken = await Promise.all(Array.from({ length: 16 }, () => turns.take()))
  const findJob = vi.fn()
  const { over } = wait({ minions: ['a'], timeout: 0.01, findJob })
  await new Promise((passed) => setTimeout(passed, 50))
  returns('a', 'done')
  expect(gist(await over)).toEqual([['a', 'done']])
  expect(findJob).not.toHaveBeenCalled()
  for (const leave of taken) leave()
  expect(turns.full).toBe(false)
})
