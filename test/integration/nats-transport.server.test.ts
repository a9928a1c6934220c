/** What the transport nats does beyond what all transports do: several masters, pieces, lost servers, foreign clients. */
import { readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { connect, headers } from '@nats-io/transport-node'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { decode, encodeLocal } from '../../core/codec/index.ts'
import type { PublishClient, Transport } from '../../core/transport/contract.ts'
import { natsTransport } from '../../core/transport/nats/index.ts'
import { subjectsOf } from '../../core/transport/nats/subjects.ts'
import { serveRequests } from '../../core/transport/serve-requests.ts'
import { selfSigned } from '../harness/certificate.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { needs, program } from '../harness/needs.ts'
import type { TestServer } from '../harness/server.ts'
import { startNats } from '../harness/store-servers.ts'
import { eventually } from '../harness/until.ts'

const anywhere = { host: '', port: 0 }

describe('the transport nats', needs(program('nats-server')), () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startNats()
  })
  afterAll(() => server.drop())

  const open: { close(): Promise<void> }[] = []
  const own = <T extends { close(): Promise<void> }>(resource: T): T => {
    open.push(resource)
    return resource
  }
  afterEach(async () => {
    for (const resource of open.splice(0).reverse()) await resource.close()
  })

  let count = 0
  /** A process of a fleet of its own. */
  const fleet = () => {
    const prefix = `fleet${count++}`
    const servers = [`127.0.0.1:${server.port}`]
    return { prefix, servers, process: () => natsTransport({ servers, prefix }) }
  }
  const serve = async (transport: Transport) => own(await serveRequests(transport, anywhere))
  const publish = async (transport: Transport) => own(await transport.servePublish(anywhere))
  const subscribe = async (transport: Transport, topics: readonly string[] = []) =>
    own(
      await transport.subscribe({ ...anywhere, identity: 'm1', topics, reconnectMs: 20, reconnectMaxMs: 50 }),
    )
  const take = async (client: PublishClient, count: number) => {
    const taken: unknown[] = []
    for await (const bytes of client) if (taken.push(decode(bytes)) === count) break
    return taken
  }

  test('gives each request to one of several masters, and after an end of some to the remaining ones', async () => {
    const { process } = fleet()
    const asked = [0, 0, 0]
    const masters = await Promise.all(
      asked.map(async (_, n) => {
        const master = await serveRequests(process(), anywhere)
        master.serve(async (request) => {
          asked[n] = (asked[n] ?? 0) + 1
          return request
        })
        return master
      }),
    )
    const client = own(process().connectRequests(anywhere))
    const ask = (n: number) => client.request(encodeLocal(n), 5000).then(decode)
    const numbers = Array.from({ length: 100 }, (_, n) => n)
    expect(await Promise.all(numbers.map(ask))).toEqual(numbers)
    expect(asked.every((times) => times > 0)).toBe(true)
    expect(asked.reduce((a, b) => a + b)).toBe(100)
    await masters[0]?.close()
    await masters[1]?.close()
    expect(await Promise.all(numbers.map(ask))).toEqual(numbers)
    await masters[2]?.close()
    await expect(client.request(encodeLocal(1), 100)).rejects.toMatchObject({ code: 'TIMEOUT' })
  })

  test('gives a request to the master it names, and to no other if that is away', async () => {
    const { process } = fleet()
    const serveAs = async (name: string) => {
      const master = await serveRequests(process(), { ...anywhere, name })
      master.serve(async () => encodeLocal(name))
      return master
    }
    const [one, two] = [await serveAs('one'), own(await serveAs('two'))]
    const client = own(process().connectRequests(anywhere))
    const ask = async (to: string) => decode(await client.request(encodeLocal('x'), 5000, to))
    for (const name of ['one', 'two', 'one']) expect(await ask(name)).toBe(name)
    await one.close()
    await expect(ask('one')).rejects.toMatchObject({ code: 'MASTER_GONE' })
    expect(await ask('two')).toBe('two')
    void two
  })

  test('lists the masters that answer, and chooses among them', async () => {
    const { process } = fleet()
    const one = process()
    await serve(one)
    const publisher = await one.servePublish({ ...anywhere, name: 'one' })
    own(await process().servePublish({ ...anywhere, name: 'two' }))
    const minion = process()
    const client = own(minion.connectRequests(anywhere))
    expect(client.choose?.()).toBeUndefined()
    await client.request(encodeLocal('x'), 100).catch(() => undefined) // the transport is loaded
    await subscribe(minion)
    await eventually(() => expect(client.choose?.('one')).toBe('one'))
    await eventually(() => expect(client.choose?.('two')).toBe('two'))
    await publisher.close()
    await eventually(() => expect(client.choose?.('one')).toBe('two'))
  })

  test('does not send a request that timed out while others were answered', async () => {
    const { process } = fleet()
    const requests = await serve(process())
    let asked = 0
    const answers: (() => void)[] = []
    requests.serve((request) => {
      asked++
      return new Promise((resolve) => answers.push(() => resolve(request)))
    })
    const client = own(process().connectRequests(anywhere))
    const first = Array.from({ length: 32 }, () => client.request(encodeLocal('x'), 10_000))
    await eventually(() => expect(asked).toBe(32))
    await expect(client.request(encodeLocal('late'), 50)).rejects.toMatchObject({ code: 'TIMEOUT' })
    for (const answer of answers.splice(0)) answer()
    await Promise.all(first)
    const last = client.request(encodeLocal('last'), 10_000)
    await eventually(() => expect(answers).toHaveLength(1))
    answers.shift()?.()
    await last
    expect(asked).toBe(33)
  })

  test('carries publications of several masters that are larger than a message of NATS', async () => {
    const { process } = fleet()
    const [one, two] = [await publish(process()), await publish(process())]
    const client = await subscribe(process(), ['broadcast'])
    await eventually(() => expect([one.subscribers, two.subscribers]).toEqual([1, 1]))
    const large = (from: number) => ({ from, text: 'x'.repeat(3_000_000) })
    const sent = Array.from({ length: 6 }, (_, n) => large(n))
    await Promise.all(
      sent.map((each, n) => (n % 2 ? one : two).publish(encodeLocal(each), n < 3 ? 'broadcast' : undefined)),
    )
    const taken = (await take(client, 6)) as typeof sent
    expect(taken.sort((a, b) => a.from - b.from)).toEqual(sent)
  })

  test('shows a subscriber to every master, and reports a disconnection only when the last master is gone', async () => {
    const { process } = fleet()
    const one = await process().servePublish(anywhere)
    const two = await process().servePublish(anywhere)
    const client = await subscribe(process(), ['broadcast', 'a.b*~ %'])
    const states: string[] = []
    client.onConnection((state) => states.push(state))
    await eventually(() => expect([one.subscribers, two.subscribers]).toEqual([1, 1]))
    expect([...two.topics]).toEqual(['broadcast', 'a.b*~ %'])
    await two.publish(encodeLocal({ x: 1 }), 'a.b*~ %')
    expect(await take(client, 1)).toEqual([{ x: 1 }])
    await one.close()
    const three = await process().servePublish(anywhere)
    await eventually(() => expect(three.subscribers).toBe(1))
    expect(states).toEqual(['up'])
    await two.close()
    await three.close()
    await eventually(() => expect(states).toEqual(['up', 'down']))
  })

  test('works again after the server was killed and restarted', async () => {
    const lost = await startNats()
    own({ close: () => lost.drop() })
    const reported: string[] = []
    const nats = { servers: [`127.0.0.1:${lost.port}`], prefix: 'salt' }
    const process = () => natsTransport(nats)
    const master = natsTransport(nats, (sentence) => void reported.push(sentence))
    const requests = await serve(master)
    requests.serve((request) =>
      decode(request) === 'slow' ? new Promise(() => undefined) : Promise.resolve(request),
    )
    const publisher = await publish(master)
    const minion = process()
    const client = own(minion.connectRequests(anywhere))
    const subscriber = await subscribe(minion)
    const states: string[] = []
    subscriber.onConnection((state) => states.push(state))
    await eventually(() => expect(publisher.subscribers).toBe(1))
    const slow = expect(client.request(encodeLocal('slow'), 60_000)).rejects.toMatchObject({
      code: 'MASTER_UNREACHABLE',
    })
    await client.request(encodeLocal('x'), 5000)
    await lost.kill()
    await slow
    await eventually(() => expect(states).toEqual(['up', 'down']))
    await eventually(() => expect(reported.join()).toContain('was lost, and is made again'))
    const meanwhile = client.request(encodeLocal('meanwhile'), 20_000)
    await lost.start()
    expect(decode(await meanwhile)).toBe('meanwhile')
    await eventually(() => expect(states).toEqual(['up', 'down', 'up']))
    expect(decode(await client.request(encodeLocal('again'), 10_000))).toBe('again')
    await publisher.publish(encodeLocal({ x: 2 }))
    expect(await take(subscriber, 1)).toEqual([{ x: 2 }])
  })

  test('answers only to subjects of its prefix, since a master may publish to more subjects than clients may', async () => {
    const { prefix, servers, process } = fleet()
    const requests = await serve(process())
    requests.serve(async (request) => request)
    const stranger = await connect({ servers })
    own(stranger)
    const heard: string[] = []
    stranger.subscribe('other.>', { callback: (_, { subject }) => void heard.push(subject) })
    const { requests: subject, inbox } = subjectsOf(prefix)
    stranger.publish(subject, encodeLocal('x'), { reply: 'other.subject' })
    const pieces = headers()
    pieces.set('Salt-Length', '9')
    stranger.publish(subject, encodeLocal('x'), { reply: 'other.pieces', headers: pieces })
    const reply = `${inbox}.own`
    const answered = stranger.subscribe(reply, { max: 1 })
    stranger.publish(subject, encodeLocal('x'), { reply })
    for await (const _ of answered) break
    await stranger.flush()
    expect(heard).toEqual([])
  })

  test('is not disturbed by messages of foreign clients', async () => {
    const { process, prefix, servers } = fleet()
    const master = process()
    const requests = await serve(master)
    requests.serve(async (request) => request)
    const publisher = await publish(master)
    const minion = process()
    const client = own(minion.connectRequests(anywhere))
    const subscriber = await subscribe(minion)
    await eventually(() => expect(publisher.subscribers).toBe(1))
    const stranger = await connect({ servers })
    const { requests: to, publish: publications, presence, control } = subjectsOf(prefix)
    const junk = [
      '',
      '\xc1',
      '\x81',
      ...[{}, [], { subscriber: 1 }, { subscriber: 'x', dropped: 0, topics: [{}] }, null],
    ]
    for (const each of junk)
      for (const subject of [
        to,
        publications(),
        publications('broadcast'),
        presence,
        control,
        ...['%', '%zz', '%E0%A4'].map((token) => `${prefix}.publish.${token}`),
      ])
        stranger.publish(
          subject,
          typeof each === 'string' ? Buffer.from(each, 'latin1') : encodeLocal(each),
          {
            reply: presence,
          },
        )
    await stranger.close()
    expect(decode(await client.request(encodeLocal('x'), 5000))).toBe('x')
    await publisher.publish(encodeLocal({ x: 3 }))
    for await (const bytes of subscriber)
      if (bytes.length === encodeLocal({ x: 3 }).length && bytes[0] === 0x81) break
    expect(publisher.subscribers).toBe(1)
  })

  test('reports wrong credentials, to a master and to a minion', async () => {
    const closed = await startNats('authorization { user: salt, password: geheim }')
    own({ close: () => closed.drop() })
    const servers = [`127.0.0.1:${closed.port}`]
    const wrong = natsTransport({ servers, prefix: 'salt', user: 'salt', password: 'falsch' })
    const sentence = `NATS at ${servers} refuses the credentials. Check user, password, token or credentials in the option 'nats'.`
    await expect(wrong.openRequestPort(anywhere)).rejects.toThrow(sentence)
    const client = own(wrong.connectRequests(anywhere))
    await expect(client.request(encodeLocal('x'), 1000)).rejects.toThrow(
      `No answer within 1 seconds: ${sentence}`,
    )
    const right = natsTransport({ servers, prefix: 'salt', user: 'salt', password: 'geheim' })
    await own(await right.openRequestPort(anywhere))
  })

  test('fails fast if no server listens, or no master is there', async () => {
    const { process } = fleet()
    const fast = { ...anywhere, failFast: true }
    const alone = own(process().connectRequests(fast))
    await expect(alone.request(encodeLocal('x'), 5000)).rejects.toMatchObject({ code: 'MASTER_UNREACHABLE' })
    const nowhere = own(natsTransport({ servers: ['127.0.0.1:1'], prefix: 'salt' }).connectRequests(fast))
    await expect(nowhere.request(encodeLocal('x'), 5000)).rejects.toThrow(
      'NATS at 127.0.0.1:1 cannot be reached',
    )
  })

  test('uses TLS where the server asks for it, and refuses a certificate of another authority', async () => {
    const folder = await temporaryFolder()
    own({ close: () => removeFolder(folder) })
    const make = async (name: string) => {
      await mkdir(join(folder, name))
      return selfSigned(join(folder, name))
    }
    const [files, others] = [await make('own'), await make('other')]
    const secure = await startNats(`tls { cert_file: "${files.cert}", key_file: "${files.key}" }`)
    own({ close: () => secure.drop() })
    const to = (cert: string) => {
      const tls = { ca: readFileSync(cert, 'utf8'), rejectUnauthorized: true }
      return natsTransport({ servers: [`127.0.0.1:${secure.port}`], prefix: 'salt', tls })
    }
    const requests = await serve(to(files.cert))
    requests.serve(async (request) => request)
    const client = own(to(files.cert).connectRequests(anywhere))
    expect(decode(await client.request(encodeLocal('x'), 5000))).toBe('x')
    const stranger = own(to(others.cert).connectRequests(anywhere))
    await expect(stranger.request(encodeLocal('x'), 1000)).rejects.toThrow(
      'cannot be reached (self-signed certificate',
    )
  })

  test('refuses a server without TLS if TLS is configured, and says so', async () => {
    const servers = [`127.0.0.1:${server.port}`]
    const secure = natsTransport({ servers, prefix: 'salt', tls: { rejectUnauthorized: true } })
    const client = own(secure.connectRequests(anywhere))
    await expect(client.request(encodeLocal('x'), 1000)).rejects.toThrow(
      `NATS at ${servers} has no TLS. Remove ssl from the option 'nats', or turn TLS on there.`,
    )
  })

  test('reports missing permissions of the server', async () => {
    const strict = await startNats(
      'authorization { users: [ { user: salt, password: geheim, permissions: { subscribe: "other.>" } } ] }',
    )
    own({ close: () => strict.drop() })
    const problems: string[] = []
    const servers = [`127.0.0.1:${strict.port}`]
    const login = { user: 'salt', password: 'geheim' }
    const minion = natsTransport(
      { servers, prefix: 'salt', ...login },
      (sentence) => void problems.push(sentence),
    )
    await subscribe(minion)
    await eventually(() =>
      expect(problems).toContain(
        `NATS at ${servers} does not let this user subscribe to salt.publish. Give it that permission, see docs/transports.md.`,
      ),
    )
  })

  test('reports a second master of another cluster', async () => {
    const { process } = fleet()
    const heard: [string, string][] = []
    const open = (name: string, group?: string) =>
      process().servePublish({
        ...anywhere,
        group,
        onStranger: (sentence) => void heard.push([name, sentence]),
      })
    const one = own(await open('one', 'north'))
    own(await open('two', 'north'))
    const three = own(await open('three'))
    await eventually(() => expect(heard.map(([name]) => name).sort()).toEqual(['one', 'two']))
    expect(heard[0]?.[1]).toContain('Give masters that serve the same minions one cluster_id')
    await one.close()
    await three.close()
  })

  test('reports another master of the cluster that has the same name', async () => {
    const { process } = fleet()
    const heard: string[] = []
    const settings = { ...anywhere, name: 'one', group: 'north' }
    own(await process().servePublish({ ...settings, onStranger: (sentence) => void heard.push(sentence) }))
    own(await process().servePublish({ ...settings, name: 'two' }))
    own(await process().servePublish(settings))
    await eventually(() =>
      expect(heard).toEqual([expect.stringContaining('Give each a master_id of its own.')]),
    )
  })

  test('keeps a verified subscriber, however many unverified ones announce themselves', async () => {
    const { prefix, servers, process } = fleet()
    const identify = async (introduction: Uint8Array) => [Buffer.from(introduction).toString()]
    const publisher = own(await process().servePublish({ ...anywhere, identify }))
    const introduction = async () => Buffer.from('proved')
    own(await process().subscribe({ ...anywhere, identity: 'm1', topics: ['own'], introduction }))
    await eventually(() => expect(publisher.topics).toContain('proved'))
    const stranger = await connect({ servers })
    own(stranger)
    const { presence } = subjectsOf(prefix)
    const hello = (n: number) => encodeLocal({ subscriber: `stranger ${n}`, topics: ['t'], dropped: 0 })
    for (let n = 0; n < 12_000; n++) stranger.publish(presence, hello(n))
    const replay = (n: number) =>
      encodeLocal({
        subscriber: `replay ${n}`,
        topics: ['r'],
        dropped: 0,
        introduction: Buffer.from('proved'),
      })
    for (let n = 0; n < 100; n++) stranger.publish(presence, replay(n))
    await stranger.flush()
    const topics = [...Array(9).keys()].map(String)
    stranger.publish(presence, encodeLocal({ subscriber: 'greedy', topics, dropped: 0 }))
    stranger.publish(presence, encodeLocal({ subscriber: 'last', topics: ['last', 'broadcast'], dropped: 0 }))
    await eventually(() => expect(publisher.topics).toContain('last'))
    expect(publisher.topics).toContain('proved')
    expect(publisher.topics).not.toContain('8')
    expect(publisher.subscribers).toBeLessThanOrEqual(5_004)
  })
})
