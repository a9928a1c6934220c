import { type ConsumeMessage, connect } from 'amqplib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Returner } from '../../../core/author/returner.ts'
import { needs, rabbitmqHere } from '../../harness/needs.ts'
import { openProxy, type TcpProxy } from '../../harness/proxy.ts'
import { aReturn, returnerWith } from '../../harness/returner.ts'
import { until } from '../../harness/until.ts'
import { returnerContract } from '../returner.ts'
import { tlsContract, tlsOptionsOf } from '../tls.ts'

const BROKER = { host: '127.0.0.1', port: 5672 }
let last = 0
const names = () => {
  const name = `salt-test-${process.pid}-${last++}`
  return { exchange: name, queue: name }
}

/** What comes to the exchange, from now on. */
async function listenTo({ exchange, queue }: { readonly exchange: string; readonly queue: string }) {
  const connection = await connect('amqp://guest:guest@127.0.0.1:5672')
  const channel = await connection.createChannel()
  await channel.assertExchange(exchange, 'topic', { durable: true })
  const own = await channel.assertQueue('', { exclusive: true })
  await channel.bindQueue(own.queue, exchange, '#')
  const messages: ConsumeMessage[] = []
  await channel.consume(own.queue, (message) => message && messages.push(message), { noAck: true })
  return {
    messages,
    drop: async () => {
      await channel.deleteQueue(queue)
      await channel.deleteExchange(exchange)
      await connection.close()
    },
  }
}

const contentOf = ({ content }: ConsumeMessage) => JSON.parse(content.toString())

await returnerContract({
  name: 'amqp',
  needs: await rabbitmqHere(),
  async prepare() {
    const own = names()
    const { messages, drop } = await listenTo(own)
    const values = async () => messages.map(contentOf)
    return {
      config: { amqp: { ...BROKER, ...own } },
      rows: async (jid, id) => (await values()).filter((value) => value.jid === jid && value.id === id),
      events: async (tag) => (await values()).filter((value) => value.tag === tag),
      drop,
    }
  },
  wrongCredentials: (config) => ({ ...config, amqp: { ...(config.amqp as object), password: 'falsch' } }),
})

const ret = aReturn({ jid: '20300101000000000001', id: 'web1.example.com' })

describe('the returner amqp and its broker', needs(await rabbitmqHere()), () => {
  const own = names()
  let listener: Awaited<ReturnType<typeof listenTo>>
  let proxy: TcpProxy
  let returner: Returner
  beforeAll(async () => {
    listener = await listenTo(own)
    proxy = await openProxy(BROKER)
    returner = await returnerWith('amqp', {
      amqp: { host: '127.0.0.1', port: proxy.port, ...own, timeout: 1 },
    })
    await returner.migrate?.()
  })
  afterAll(async () => {
    await returner.close?.()
    await proxy.close()
    await listener.drop()
  })

  test('publishes each message with its own routing key, and with the same message id when it is written again', async () => {
    const before = listener.messages.length
    for (const _ of ['once', 'again']) {
      await returner.save(ret)
      await returner.saveEvents?.([{ tag: 'salt/job/1/ret/web1.a', data: {} }], 'one')
    }
    const found = await until('four messages', () => {
      const some = listener.messages.slice(before)
      return some.length === 4 && some
    })
    const facts = found.map(({ fields, properties }) => [fields.routingKey, properties.messageId])
    expect(facts).toEqual([
      ['return.20300101000000000001.web1%2Eexample%2Ecom', `${ret.jid} ${ret.id}`],
      ['event.salt.job.1.ret.web1%2Ea', 'one 0'],
      ...facts.slice(0, 2),
    ])
    expect(found[0]?.properties.deliveryMode).toBe(2)
  })

  test('rejects a return that no queue receives, and one without an exchange', async () => {
    const connection = await connect('amqp://guest:guest@127.0.0.1:5672')
    const channel = await connection.createChannel()
    const alone = names()
    await channel.assertExchange(alone.exchange, 'topic')
    const lone = await returnerWith('amqp', { amqp: { ...BROKER, ...alone } })
    await expect(lone.save(ret)).rejects.toThrow(
      `AMQP broker at 127.0.0.1:5672: no queue receives return.20300101000000000001.web1%2Eexample%2Ecom from the exchange ${alone.exchange}`,
    )
    await channel.deleteExchange(alone.exchange)
    await expect(lone.save(ret)).rejects.toThrow(`no exchange '${alone.exchange}'`)
    await lone.migrate?.()
    await lone.save(ret)
    expect((await channel.get(alone.queue)) && true).toBe(true)
    await lone.close?.()
    await channel.deleteQueue(alone.queue)
    await channel.deleteExchange(alone.exchange)
    await connection.close()
  })

  test('rejects while the broker hangs, and reconnects afterwards', async () => {
    await returner.save(ret)
    proxy.freeze()
    await expect(returner.save(ret)).rejects.toThrow(
      `AMQP broker at 127.0.0.1:${proxy.port}: no answer within 1 seconds`,
    )
    await returner.save(ret)
  })

  test('reconnects when a connection is lost', async () => {
    const { port } = proxy
    await proxy.close()
    await expect(returner.save(ret)).rejects.toThrow(`AMQP broker at 127.0.0.1:${port}: `)
    proxy = await openProxy(BROKER, port)
    await returner.save(ret)
  })

  test('names the address where it found no broker', async () => {
    const lost = await returnerWith('amqp', { amqp: { host: '127.0.0.1', port: 1 } })
    await expect(lost.save(ret)).rejects.toThrow(
      'AMQP broker at 127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1',
    )
  })
})

/** The shared broker has no TLS: a proxy before it has. */
const behindTls = names()
tlsContract({
  name: 'amqp',
  async start(files) {
    const listener = await listenTo(behindTls)
    const { port, close } = await openProxy(BROKER, 0, await tlsOptionsOf(files))
    return { port, drop: () => close().then(listener.drop) }
  },
  config: (port, options) => ({ amqp: { host: '127.0.0.1', port, ...behindTls, ...options } }),
})
