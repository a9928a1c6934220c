import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { p } from '../../../core/author/params.ts'
import {
  type EventRecord,
  type Returner,
  type ReturnRecord,
  UnsavableError,
} from '../../../core/author/returner.ts'
import { hideSecrets, maskingLog } from '../../../core/loader/index.ts'
import { Outbox, type OutboxItem, type TargetState } from '../../../core/outbox/outbox.ts'
import { TargetWriter, type TargetWriterSettings } from '../../../core/outbox/target-writer.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { quietLog, spyLog } from '../../harness/log.ts'
import { SLOW } from '../../harness/slow.ts'
import { until } from '../../harness/until.ts'

let folder: string
let outbox: Outbox
const open: TargetWriter[] = []
beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-writer-')
  outbox = Outbox.open(folder)
})
afterEach(async () => {
  for (const writer of open.splice(0)) await writer.close()
  await outbox.close()
  await removeFolder(folder)
})

/** Keeps what it is given, and fails as often as it is told to. */
class FakeStore {
  readonly rets = new Map<string, ReturnRecord>()
  readonly batches = new Map<string, readonly EventRecord[]>()
  writes = 0
  /** Given before each write; throws to refuse it. */
  gate: (rets: readonly ReturnRecord[]) => void = () => {}

  returner(): Returner {
    const saveBatch = async (rets: readonly ReturnRecord[]) => {
      this.writes++
      this.gate(rets)
      for (const ret of rets) this.rets.set(`${ret.jid} ${ret.id}`, ret)
    }
    return {
      save: (ret) => saveBatch([ret]),
      saveBatch,
      saveEvents: async (events, batch) => {
        this.writes++
        this.gate([])
        this.batches.set(batch, events)
      },
    }
  }
}

const ret = (n: number): OutboxItem => ({
  kind: 'return',
  ret: {
    jid: '20300101000000000000',
    id: `m${n}`,
    fun: 'test.ping',
    fun_args: [],
    return: n,
    retcode: 0,
    success: true,
  },
})
const rets = (count: number) => Array.from({ length: count }, (_, n) => ret(n))

function deliver(store: FakeStore, changes: Partial<TargetWriterSettings> = {}): TargetWriter {
  const writer = new TargetWriter({
    target: 'fake',
    name: 'fake',
    outbox,
    open: async () => store.returner(),
    log: quietLog,
    retry: { minMs: 1, maxMs: 5 },
    keepMs: 0,
    timeoutMs: 60_000,
    ...changes,
  })
  open.push(writer)
  return writer
}
const isEmpty = () => outbox.counts('fake').queued === 0

test(
  'the writer writes the entries of the outbox in growing batches, including those added later',
  SLOW,
  async () => {
    await outbox.add(['fake'], rets(3000))
    const store = new FakeStore()
    const writer = deliver(store)
    await until('the outbox is empty', isEmpty)
    expect(store.rets.size).toBe(3000)
    expect(store.writes).toBeGreaterThan(1)
    expect(store.writes).toBeLessThan(6)
    await outbox.add(['fake'], [ret(5000)])
    writer.wake()
    await until('the new one is written', () => store.rets.size === 3001)
  },
)

test('the writer passes the time of the last return of each job to a store with updateEndtime', async () => {
  const at = (n: number, endtime: string) => ({ ...ret(n), endtime }) as OutboxItem
  await outbox.add(['fake'], [at(1, '2030-01-01T00:00:01.000Z'), at(2, '2030-01-01T00:00:02.000Z'), ret(3)])
  const store = new FakeStore()
  const told: unknown[] = []
  const updateEndtime = async (...given: unknown[]) => void told.push(given)
  deliver(store, { open: async () => ({ ...store.returner(), updateEndtime }) })
  await until('the outbox is empty', isEmpty)
  expect(told).toEqual([['20300101000000000000', '2030-01-01T00:00:02.000Z']])
})

test('the writer prepares a store for a job before saving it, if the store needs that', async () => {
  const load = { kind: 'load' as const, jid: '20300101000000000000', load: {}, minions: ['web1'] }
  await outbox.add(['fake'], [load, ret(1)])
  const told: string[] = []
  const returner: Returner = {
    prepJid: async (jid) => void told.push(`prep ${jid}`),
    saveLoad: async ({ jid }) => void told.push(`load ${jid}`),
    save: async ({ jid }) => void told.push(`return ${jid}`),
  }
  deliver(new FakeStore(), { open: async () => returner })
  await until('the outbox is empty', isEmpty)
  expect(told).toEqual(['prep', 'load', 'return'].map((what) => `${what} ${load.jid}`))
})

test(
  'the writer tries again while the store is down, and has every return once afterwards',
  SLOW,
  async () => {
    await outbox.add(['fake'], rets(300))
    const store = new FakeStore()
    let refusals = 30
    store.gate = () => {
      if (refusals-- > 0) throw new Error('connect ECONNREFUSED 127.0.0.1:5432')
    }
    const states: TargetState[] = []
    deliver(store, { onState: (state) => states.push(state) })
    await until('the outbox is empty', isEmpty)
    expect(store.rets.size).toBe(300)
    expect(outbox.counts('fake').dead).toBe(0)
    expect(states.map(({ state }) => state)).toEqual(['down', 'up'])
    expect(states[0]?.error).toContain('ECONNREFUSED')
  },
)

test('the writer keeps the id of a batch of events if it is unknown whether it arrived', async () => {
  await outbox.add(
    ['fake'],
    Array.from({ length: 20 }, (_, n) => ({ kind: 'event' as const, tag: 'a', data: { n } })),
  )
  const store = new FakeStore()
  const plain = store.returner()
  let lost = 3
  const lossy: Returner = {
    ...plain,
    saveEvents: async (events, batch) => {
      await plain.saveEvents?.(events, batch)
      if (lost-- > 0) throw new Error('the connection was lost after the commit')
    },
  }
  deliver(store, { open: async () => lossy })
  await until('the outbox is empty', isEmpty)
  expect(store.batches.size).toBe(1)
  expect([...store.batches.values()][0]).toHaveLength(20)
})

test('the writer sets aside only entries that the store reports as unsavable', async () => {
  await outbox.add(['fake'], rets(50))
  const store = new FakeStore()
  store.gate = (some) => {
    if (some.some(({ return: n }) => n === 7)) throw new UnsavableError('7 is out of range.')
  }
  deliver(store)
  await until('the outbox is empty', isEmpty)
  expect(store.rets.size).toBe(49)
  expect([...outbox.dead('fake')]).toMatchObject([
    { reason: '7 is out of range.', item: { ret: { id: 'm7' } } },
  ])
})

test('the writer finds the entry at which a store fails without naming it', async () => {
  await outbox.add(['fake'], rets(50))
  const store = new FakeStore()
  store.gate = (some) => {
    if (some.some(({ return: n }) => n === 7)) throw new Error('invalid byte sequence')
  }
  deliver(store)
  await until('the outbox is empty', isEmpty)
  expect(store.rets.size).toBe(49)
  expect(outbox.counts('fake').dead).toBe(1)
})

test('the writer sets no entry aside while the store is down, however often it is tried', SLOW, async () => {
  await outbox.add(['fake'], rets(50))
  const store = new FakeStore()
  let tries = 0
  store.gate = () => {
    if (tries++ < 60) throw new Error('the store is away')
  }
  deliver(store)
  await until('the outbox is empty', isEmpty)
  expect(store.rets.size).toBe(50)
  expect(outbox.counts('fake').dead).toBe(0)
})

test('the writer sets aside entries that have waited longer than configured', async () => {
  await outbox.add(['fake'], rets(3))
  const store = new FakeStore()
  let later = 0
  store.gate = () => {
    later = 60_000
    throw new Error('the store is away')
  }
  deliver(store, { keepMs: 30_000, clock: { now: () => Date.now() + later } })
  await until('the outbox is empty', isEmpty)
  expect([...outbox.dead('fake')].map(({ reason }) => reason)[0]).toContain('the store is away')
})

test('a call that hangs fails after its time-out, and is repeated with a new connection', async () => {
  await outbox.add(['fake'], [ret(1)])
  const store = new FakeStore()
  let opened = 0
  const open = async (): Promise<Returner> => {
    const returner = store.returner()
    const hang = () => new Promise<void>(() => {})
    return ++opened > 1 ? returner : { ...returner, save: hang, close: hang }
  }
  const states: TargetState[] = []
  deliver(store, { open, timeoutMs: 50, onState: (state) => states.push(state) })
  await until('the outbox is empty', isEmpty)
  expect(states[0]).toMatchObject({
    state: 'down',
    error: 'Its save did not finish within 0.05 seconds (returner_timeout).',
  })
  expect(store.rets.size).toBe(1)
})

/** Has what it is given as often as it is given it, and does not take what `isBad`. */
function appending(isBad: (id: string) => boolean) {
  const log: string[] = []
  const returner: Returner = {
    idempotent: false,
    async save({ id }) {
      if (isBad(id)) throw new Error('it is not taken')
      log.push(id)
    },
  }
  return { log, returner }
}

test('a store that would duplicate entries does not get accepted ones again when a later step fails', async () => {
  await outbox.add(['fake'], rets(20))
  let isAway = 0
  const { log, returner } = appending((id) => id === 'm10' && isAway++ < 5)
  deliver(new FakeStore(), { open: async () => returner })
  await until('the outbox is empty', isEmpty)
  expect(log).toEqual(rets(20).map((_, n) => `m${n}`))
})

test('a refused entry of a store that would duplicate entries is set aside only after later ones were written', async () => {
  await outbox.add(['fake'], [ret(0)])
  const { log, returner } = appending((id) => id === 'm0')
  const writer = deliver(new FakeStore(), { open: async () => returner })
  await until('it was tried alone', () => (outbox.state('fake')?.failures ?? 0) > 9)
  expect(outbox.counts('fake')).toMatchObject({ queued: 1, dead: 0 })
  await outbox.add(['fake'], rets(20).slice(1))
  writer.wake()
  await until('the outbox is empty', isEmpty)
  expect([...outbox.dead('fake')]).toMatchObject([{ item: { ret: { id: 'm0' } }, reason: 'it is not taken' }])
  expect(log.toSorted()).toEqual(
    rets(20)
      .slice(1)
      .map((_, n) => `m${n + 1}`)
      .toSorted(),
  )
})

test('the writer leaves unwritten entries in the outbox when it is closed', async () => {
  await outbox.add(['fake'], rets(3))
  const store = new FakeStore()
  store.gate = () => {
    throw new Error('the store is away')
  }
  const writer = deliver(store)
  await until('it was tried twice', () => store.writes > 2)
  await writer.close()
  expect(outbox.counts('fake')).toMatchObject({ queued: 3, dead: 0 })
  expect(outbox.state('fake')).toMatchObject({ state: 'down', error: 'the store is away' })
})

test('secret options of the returner are masked in the log, in the state and in the reason of what is put aside', async () => {
  const log = spyLog()
  const masking = maskingLog(log)
  hideSecrets(masking, { password: 'open sesame' }, { password: p.secret(p.string()) })
  const store = new FakeStore()
  const states: TargetState[] = []
  const errors = [new Error('open sesame is refused'), new UnsavableError('not with open sesame')]
  store.gate = () => {
    const error = errors.shift()
    if (error) throw error
  }
  await outbox.add(['fake'], [ret(1)])
  deliver(store, { log: masking, onState: (state) => states.push(state) })
  await until('the return is put aside', () => outbox.counts('fake').dead === 1)
  expect(states[0]?.error).toBe('********** is refused')
  expect([...outbox.dead('fake')].map(({ reason }) => reason)).toEqual(['not with **********'])
  expect(JSON.stringify([log.debug.mock.calls, log.warn.mock.calls, log.error.mock.calls])).not.toContain(
    'sesame',
  )
})

test('the writer goes on after the outbox could not be read', async () => {
  await outbox.add(['fake'], rets(1))
  const store = new FakeStore()
  store.gate = () => {
    if (store.writes === 1) throw new Error('The store is down.')
  }
  const after = vi.spyOn(outbox, 'after').mockImplementation(() => {
    throw new Error('A page of the outbox is damaged.')
  })
  const writer = deliver(store, { onTried: () => {} })
  await until('the outbox to be empty', isEmpty)
  expect(() => writer.wake()).not.toThrow()
  expect(store.rets.size).toBe(1)
  expect(after).toHaveBeenCalled()
})
