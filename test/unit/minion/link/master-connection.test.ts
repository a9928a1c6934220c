import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { type Deferred, deferred } from '../../../../core/base/deferred.ts'
import { endsWithin } from '../../../../core/base/with-timeout.ts'
import { minionTopic } from '../../../../core/channel/publish-channel.ts'
import { loadMinionConfig } from '../../../../core/config/index.ts'
import { MasterConnection } from '../../../../core/minion/link/master-connection.ts'
import type {
  ClientSettings,
  PublishClient,
  SubscribeSettings,
  Transport,
} from '../../../../core/transport/contract.ts'
import { InProcessMaster } from '../../../harness/in-process-master.ts'
import { keyPair } from '../../../harness/key-pairs.ts'
import { quietLog, spyLog } from '../../../harness/log.ts'
import { SLOW } from '../../../harness/slow.ts'
import { eventually } from '../../../harness/until.ts'

const ID = 'wire1'

let master: InProcessMaster
let connection: MasterConnection
afterEach(async () => {
  vi.restoreAllMocks()
  await connection.close()
  await master.close()
})

/** A transport that notes down what it is asked for, with a master behind it. */
async function follow(options: Record<string, unknown>, onForgotten = async () => {}) {
  master = await InProcessMaster.open({ options: { publish_port: 4605 } })
  await master.file(ID, (await keyPair(ID)).publicKey)
  const overrides = { id: ID, master: 'salt', ...options }
  const { config } = loadMinionConfig({ configDir: '/nonexistent', overrides })
  const asked: { requests?: ClientSettings; subscribe?: SubscribeSettings } = {}
  let tell: (state: 'up' | 'down') => void = () => {}
  const transport: Pick<Transport, 'connectRequests' | 'subscribe'> = {
    connectRequests(settings) {
      asked.requests = settings
      return { request: (frame) => master.answer(frame), close: async () => {} }
    },
    async subscribe(settings) {
      asked.subscribe = settings
      let end: () => void = () => {}
      const ended = new Promise<void>((resolve) => {
        end = resolve
      })
      const client: PublishClient = {
        onConnection: (listener) => {
          tell = listener
        },
        [Symbol.asyncIterator]: () => ({ next: () => ended.then(() => ({ done: true, value: undefined })) }),
        close: async () => end(),
      }
      return client
    },
  }
  const connections: [string, string][] = []
  connection = new MasterConnection({
    config,
    id: ID,
    key: await keyPair(ID),
    known: { read: async () => undefined, write: async () => {} },
    signingKey: undefined,
    transport: transport as Transport,
    address: { text: 'salt', transport: 'zeromq', namesTransport: false, host: 'salt', port: 4506 },
    grains: () => ({}),
    log: quietLog,
    onJob: () => {},
    onReady: async () => {},
    onForgotten,
    onConnection: (state, { host }) => connections.push([state, host]),
    now: Date.now,
  })
  void connection.run().catch(() => {})
  await eventually(() => expect(asked.subscribe).toBeDefined())
  return { requests: asked.requests!, subscribe: asked.subscribe!, connections, tell: () => tell }
}

describe('connections to a master', () => {
  test('have the keepalive options of the configuration', SLOW, async () => {
    const { requests, subscribe } = await follow({
      ipv6: true,
      tcp_keepalive_idle: 20,
      tcp_keepalive_cnt: 3,
      tcp_keepalive_intvl: 5,
      source_address: '10.0.0.7',
    })
    const common = {
      host: 'salt',
      ipv6: true,
      keepAlive: { idle: 20, count: 3, interval: 5 },
      sourceAddress: '10.0.0.7',
    }
    expect(requests).toEqual({ ...common, port: 4506 })
    expect(subscribe).toMatchObject({ ...common, port: 4605, identity: ID })
  })

  test('have keepalive of the system with tcp_keepalive off', SLOW, async () => {
    const { requests, subscribe } = await follow({ tcp_keepalive: false })
    expect([requests.keepAlive, subscribe.keepAlive]).toEqual([false, false])
  })

  test('go to the publish port that the master names, unless the minion sets one', async () => {
    const { subscribe } = await follow({ publish_port: 4999 })
    expect(subscribe.port).toBe(4999)
  })

  test('are renewed after a random time between recon_default and recon_default + recon_max', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.25)
    const { subscribe } = await follow({ recon_default: 2000, recon_max: 8000 })
    expect([subscribe.reconnectMs, subscribe.reconnectMaxMs]).toEqual([4000, 8000])
  })

  test('are renewed after recon_default without recon_randomize', async () => {
    const { subscribe } = await follow({ recon_default: 2000, recon_max: 8000, recon_randomize: false })
    expect(subscribe.reconnectMs).toBe(2000)
  })

  test('are renewed with the defaults of Salt for an option that is not set', SLOW, async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5)
    const { subscribe } = await follow({ recon_max: 4000 })
    expect([subscribe.reconnectMs, subscribe.reconnectMaxMs]).toEqual([3000, 4000])
    await connection.close()
    await master.close()
    const other = await follow({ recon_default: 100 })
    expect([other.subscribe.reconnectMs, other.subscribe.reconnectMaxMs]).toEqual([5100, 10_000])
  })

  test('are renewed after the default of Salt with only recon_randomize off', SLOW, async () => {
    const { subscribe } = await follow({ recon_randomize: false })
    expect([subscribe.reconnectMs, subscribe.reconnectMaxMs]).toEqual([1000, 10_000])
  })

  test('detect quickly that they are dead if the master keeps missed jobs', SLOW, async () => {
    expect((await follow({})).subscribe.heartbeat).toBe('quick')
    await connection.close()
    await master.close()
    // In generation 2 each minion has the key of the answers.
    expect((await follow({ minimum_auth_version: 2 })).subscribe.heartbeat).toBeUndefined()
  })

  test(
    'are renewed within the time over which the master spreads its minions, which is a second for few',
    SLOW,
    async () => {
      for (const random of [0, 0.999]) {
        vi.spyOn(Math, 'random').mockReturnValue(random)
        const { subscribe } = await follow({})
        // The transport waits between this and twice as long.
        expect(subscribe.reconnectMs).toBeGreaterThanOrEqual(100)
        expect(subscribe.reconnectMs).toBeLessThanOrEqual(500)
        expect(subscribe.reconnectMaxMs).toBe(0)
        if (random > 0) continue
        await connection.close()
        await master.close()
      }
    },
  )

  test(
    'subscribe to everything, or with zmq_filtering to the topics for all and for this minion',
    SLOW,
    async () => {
      const all = await follow({})
      expect(all.subscribe.topics).toContain('')
      await connection.close()
      await master.close()
      const filtered = await follow({ zmq_filtering: true })
      expect(filtered.subscribe.topics).toEqual([
        'broadcast',
        minionTopic(ID),
        expect.stringMatching(/^~[\w-]{6}$/),
      ])
    },
  )

  test(
    'that come and go begin one report to a master without grains, not one more each time',
    SLOW,
    async () => {
      const reports: Deferred<void>[] = []
      const { tell } = await follow({ acceptance_wait_time: 1 }, () => {
        const report = deferred()
        reports.push(report)
        return report.promise
      })
      for (let reported = 0; reported < 4; reported++) {
        tell()('down')
        tell()('up')
        await eventually(() => expect(reports.length).toBeGreaterThanOrEqual(reported))
      }
      const begun = reports.length
      for (const { reject } of reports) reject(new Error('The disk is full.'))
      await eventually(() => expect(reports).toHaveLength(begun + 1))
      reports.at(-1)?.resolve()
      await delay(1500)
      expect(reports).toHaveLength(begun + 1)
    },
  )

  test('are reported when they are made and lost', async () => {
    const { connections, tell } = await follow({})
    tell()('up')
    tell()('down')
    expect(connections).toEqual([
      ['up', 'salt'],
      ['down', 'salt'],
    ])
  })

  test('end at once with their run while the master refuses this minion as a second one', async () => {
    master = await InProcessMaster.open({ options: { refuse_second_minion: true } })
    await master.file(ID, (await keyPair(ID)).publicKey)
    const first = { token: 'other1', address: '10.0.0.1', host: 'first', pid: 1 }
    await master.context.starts.save(ID, first, Date.now())
    const log = spyLog()
    const transport: Pick<Transport, 'connectRequests'> = {
      connectRequests: () => ({ request: (frame) => master.answer(frame), close: async () => {} }),
    }
    connection = new MasterConnection({
      config: loadMinionConfig({
        configDir: '/nonexistent',
        overrides: { id: ID, master: 'salt', acceptance_wait_time: 30 },
      }).config,
      id: ID,
      key: await keyPair(ID),
      known: { read: async () => undefined, write: async () => {} },
      signingKey: undefined,
      transport: transport as Transport,
      address: { text: 'salt', transport: 'zeromq', namesTransport: false, host: 'salt', port: 4506 },
      grains: () => ({}),
      log,
      onJob: () => {},
      onReady: async () => {},
      now: Date.now,
    })
    const ending = new AbortController()
    const run = connection.run(ending.signal)
    await eventually(() =>
      expect(log.error).toHaveBeenCalledWith(expect.stringContaining('Asking again in 30')),
    )
    ending.abort()
    expect(await endsWithin(run, 5_000)).toBe(true)
  })
})
