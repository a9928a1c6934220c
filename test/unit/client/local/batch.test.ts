import { describe, expect, test } from 'vitest'
import { SaltError } from '../../../../core/base/errors.ts'
import { openBatch } from '../../../../core/client/local/batch.ts'
import type {
  BatchRun,
  BatchSettings,
  MinionResult,
  Plan,
  PublishRequest,
  Run,
} from '../../../../core/client/local/contract.ts'
import { Inbox } from '../../../../core/client/local/inbox.ts'
import { type Event, EventBus, tags } from '../../../../core/events/index.ts'
import { until } from '../../../harness/until.ts'

const returned = (id: string, retcode = 0): MinionResult => ({
  ...(retcode === 0 ? { state: 'returned', jobState: 'returned' } : { state: 'failed', jobState: 'failed' }),
  id,
  return: id,
  retcode,
  success: retcode === 0,
  why: 'The minion returned.',
  jid: '20261121000000000001',
  fun: 'test.echo',
})
const silent = (id: string): MinionResult => ({
  id,
  state: 'missing',
  jobState: 'unknown',
  why: 'It did not answer.',
  reason: 'Minion did not return. [No response]\nLook.',
  jid: '20261121000000000001',
})
const noPlan = async (): Promise<Plan> => {
  throw new SaltError('INVOCATION', 'This master makes no plans.')
}

/** A master whose minions answer when the test says so. */
class FakeMaster {
  readonly published: PublishRequest[] = []
  readonly running = new Set<string>()
  most = 0
  readonly #down: readonly string[]
  readonly #ids: readonly string[]
  readonly #open = new Map<string, (result: MinionResult) => void>()
  readonly #late = new Inbox<Event>()
  plan: () => Promise<Plan> = noPlan
  refuse: ((request: PublishRequest) => Error | undefined) | undefined
  ping: PublishRequest | undefined

  constructor(ids: readonly string[], down: readonly string[] = []) {
    this.#ids = ids
    this.#down = down
  }

  /** A stand-in for the bus, of which a batch only reads late answers to its ping. */
  get events(): EventBus {
    const inbox = this.#late
    const late = {
      close() {},
      async *[Symbol.asyncIterator]() {
        for (;;) yield* await inbox.take(Number.POSITIVE_INFINITY)
      },
    }
    return Object.assign(Object.create(EventBus.prototype), { subscribe: () => late })
  }

  async cmdIter(request: PublishRequest): Promise<Run> {
    if (request.fun === 'test.ping') {
      this.ping = request
      return run(
        request,
        this.#ids,
        async function* (this: FakeMaster) {
          for (const id of this.#ids) yield this.#down.includes(id) ? silent(id) : returned(id)
        }.bind(this),
      )
    }
    const error = this.refuse?.(request)
    if (error) throw error
    this.published.push(request)
    const ids = request.tgt as string[]
    const inbox = new Inbox<MinionResult>()
    for (const id of ids) {
      this.running.add(id)
      this.#open.set(id, (result) => inbox.push(result))
    }
    this.most = Math.max(this.most, this.running.size)
    return run(request, ids, async function* () {
      for (let left = ids.length; left > 0; )
        for (const result of await inbox.take(Number.POSITIVE_INFINITY)) {
          left--
          yield result
        }
    })
  }

  async answer(result: MinionResult): Promise<void> {
    const { id } = result
    await until(`the job of ${id}`, () => this.running.has(id))
    this.running.delete(id)
    this.#open.get(id)?.(result)
  }

  pong(id: string): void {
    this.#late.push({ tag: tags.jobReturn(String(this.ping?.jid), id), data: { id } })
  }

  waves(): unknown[] {
    return this.published.map(({ tgt }) => tgt)
  }
}

function run(
  { jid = '' }: PublishRequest,
  minions: readonly string[],
  results: () => AsyncGenerator<MinionResult>,
): Run {
  const expected = minions.length
  const counts = () => ({
    expected,
    returned: 0,
    running: 0,
    silent: 0,
    missing: 0,
    reconnecting: 0,
    waiting: 0,
  })
  return { jid, minions, missing: [], counts, [Symbol.asyncIterator]: results }
}

async function start(master: FakeMaster, size: number | string, settings: BatchSettings = {}) {
  const request = { tgt: '*', fun: 'test.echo', arg: ['x'], metadata: { for: 'ops' } }
  const batch = await openBatch(master, {} as never, request, size, settings)
  const results: MinionResult[] = []
  const over = gather(batch, results)
  return { batch, results, over }
}

async function gather(batch: BatchRun, results: MinionResult[]): Promise<MinionResult[]> {
  for await (const result of batch) results.push(result)
  return results
}

const gist = (results: readonly MinionResult[]) => results.map(({ id, state }) => `${id} ${state}`)

describe('a batch of a client', () => {
  test('never has more minions at work than its size, and fills each place as it becomes free', async () => {
    const master = new FakeMaster(['a', 'b', 'c', 'd', 'e'])
    const { over } = await start(master, 2)
    await master.answer(returned('b'))
    await master.answer(returned('c')) // while a still works
    await master.answer(returned('d'))
    await master.answer(returned('a'))
    await master.answer(returned('e'))
    expect(gist(await over).sort()).toEqual(['a', 'b', 'c', 'd', 'e'].map((id) => `${id} returned`))
    expect(master.most).toBe(2)
    expect(master.waves()).toEqual([['a', 'b'], ['c'], ['d'], ['e']])
  })

  test('is one job in a lookup: each wave names the first one', async () => {
    const master = new FakeMaster(['a', 'b'])
    const { batch, over } = await start(master, 1)
    await master.answer(returned('a'))
    await master.answer(returned('b'))
    await over
    const [first, second] = master.published
    expect(first?.jid).toBe(batch.jid)
    expect(second?.jid).not.toBe(batch.jid)
    for (const wave of master.published)
      expect(wave).toMatchObject({ tgtType: 'list', metadata: { for: 'ops', batch_jid: batch.jid } })
    expect(master.ping?.metadata).toBeUndefined()
  })

  test('sends nothing to minions that do not answer the ping, lists them last, and includes them if they answer later', async () => {
    const master = new FakeMaster(['a', 'b', 'late', 'dead'], ['late', 'dead'])
    const { batch, over } = await start(master, '50%')
    expect([batch.minions, batch.silent, batch.size]).toEqual([['a', 'b'], ['late', 'dead'], 1])
    await until('the first wave', () => master.running.has('a'))
    master.pong('late')
    await master.answer(returned('a'))
    await master.answer(returned('b'))
    await master.answer(returned('late'))
    const results = await over
    expect(gist(results)).toEqual(['a returned', 'b returned', 'late returned', 'dead missing'])
    const reason = 'Minion did not respond. No job will be sent. [No response]'
    expect(results.at(-1)).toMatchObject({ id: 'dead', state: 'missing', reason })
    expect(master.waves()).toEqual([['a'], ['b'], ['late']])
  })

  test('continues when a minion does not return', async () => {
    const master = new FakeMaster(['a', 'b'])
    const { over } = await start(master, 1)
    await master.answer(silent('a'))
    await master.answer(returned('b'))
    expect(gist(await over)).toEqual(['a missing', 'b returned'])
  })

  test.each([
    ['failhard', { failhard: true }, 'Minion a failed'],
    ['a limit', { maxFail: 0 }, 'One minion failed or did not return; the limit is 0'],
    ['a limit in percent', { maxFail: '20%' }, 'One minion failed or did not return; the limit is 0'],
  ])(
    'with %s stops, waits for running minions, and lists those that it did not start',
    async (_, settings, why) => {
      const master = new FakeMaster(['a', 'b', 'c'])
      const { batch, over } = await start(master, 2, settings)
      await master.answer(returned('a', 3))
      await until('the end of new waves', () => batch.halted !== undefined)
      expect(batch.queued).toEqual(['c'])
      await master.answer(returned('b'))
      expect(gist(await over)).toEqual(['a failed', 'b returned', 'c missing'])
      expect(batch.halted).toContain(why)
      expect(master.published).toHaveLength(1)
    },
  )

  test('stops on request', async () => {
    const master = new FakeMaster(['a', 'b'])
    const { batch, over } = await start(master, 1)
    await until('the first wave', () => master.running.has('a'))
    batch.stop()
    await master.answer(returned('a'))
    expect(gist(await over)).toEqual(['a returned', 'b missing'])
  })

  test('ends at once when its signal is aborted, and starts no further minion', async () => {
    const master = new FakeMaster(['a', 'b'])
    const leaving = new AbortController()
    const batch = await openBatch(
      master,
      {} as Parameters<typeof openBatch>[1],
      { tgt: '*', fun: 'test.echo', signal: leaving.signal },
      1,
      {},
    )
    const over = (async () => {
      for await (const _ of batch);
    })()
    const failed = expect(over).rejects.toThrow('the reader is gone')
    await until('the first wave', () => master.running.has('a'))
    leaving.abort(new Error('the reader is gone'))
    await failed
    expect(master.published).toHaveLength(1)
  })

  test('does not repeat a wave that the master may have received, and publishes none after it', async () => {
    const master = new FakeMaster(['a', 'b', 'c'])
    master.refuse = ({ tgt }) =>
      (tgt as string[]).includes('b') ? new SaltError('MASTER_UNREACHABLE', 'It is away.') : undefined
    const { batch, over } = await start(master, 1)
    await master.answer(returned('a'))
    expect(gist(await over)).toEqual(['a returned', 'b missing', 'c missing'])
    expect(batch.halted).toContain('It is away.')
    expect(master.published).toHaveLength(1)
  })

  test('does not begin if its first wave is refused, and is checked before only if all minions would refuse', async () => {
    const master = new FakeMaster(['a', 'b'])
    const group = (id: string, refusal?: string) => ({
      minions: [id],
      calls: [{ fun: 'test.echo', known: true, ...(refusal && { refusal }) }],
    })
    const plan = (...groups: ReturnType<typeof group>[]): Plan =>
      ({ allowed: true, user: 'root', minions: ['a', 'b'], connected: [], missing: [], groups }) as Plan
    const checks: unknown[] = []
    master.refuse = ({ check }) => {
      checks.push(check)
      return new SaltError('CALL_REFUSED', 'Nobody would run it.')
    }
    master.plan = async () => plan(group('a', 'no'), group('b', 'no'))
    const refused = await start(master, 1)
    await expect(refused.over).rejects.toThrow('Nobody would run it.')
    expect(refused.batch.refusals).toEqual([]) // said once
    master.plan = async () => plan(group('a', 'no'), group('b'))
    const { batch, over } = await start(master, 1)
    expect(batch.refusals).toEqual([{ minions: ['a'], reason: 'no' }])
    await expect(over).rejects.toThrow('Nobody would run it.')
    expect(checks).toEqual([true, false])
  })

  test.each(['0', 'all', '10%%'])('of size %s is refused before anything is sent', async (size) => {
    const master = new FakeMaster(['a'])
    await expect(start(master, size)).rejects.toThrow(`Invalid batch data sent: ${size}.`)
    expect(master.ping).toBeUndefined()
  })
})
