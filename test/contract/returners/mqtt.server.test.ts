import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connectAsync } from 'mqtt'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Returner } from '../../../core/author/returner.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { needs, program } from '../../harness/needs.ts'
import { aReturn, returnerWith } from '../../harness/returner.ts'
import type { TestServer } from '../../harness/server.ts'
import { startMosquitto } from '../../harness/store-servers.ts'
import { until } from '../../harness/until.ts'
import { outageContract } from '../outages.ts'
import { returnerContract } from '../returner.ts'
import { tlsContract } from '../tls.ts'

const folder = await temporaryFolder('salt-ts-mqtt-')
afterAll(() => removeFolder(folder))

/** Messages of topics that match, as they come. */
async function listenTo(port: number, topic: string) {
  const client = await connectAsync(`mqtt://127.0.0.1:${port}`)
  const messages: { readonly topic: string; readonly value: Record<string, unknown> }[] = []
  client.on('message', (name, text) => messages.push({ topic: name, value: JSON.parse(text.toString()) }))
  await client.subscribeAsync(topic, { qos: 1 })
  return { messages, close: () => client.endAsync(true) }
}

await returnerContract({
  name: 'mqtt',
  needs: program('mosquitto'),
  async prepare() {
    const server = await startMosquitto('max_queued_messages 0')
    const listener = await listenTo(server.port, 'salt/#')
    return {
      config: { mqtt: { host: '127.0.0.1', port: server.port } },
      rows: async (jid, id) => listener.messages.filter(({ value }) => value.jid === jid && value.id === id),
      events: async (tag) => listener.messages.filter(({ value }) => value.tag === tag),
      drop: async () => {
        await listener.close()
        await server.drop()
      },
    }
  },
})

const ret = aReturn({ jid: '20300101000000000001' })

describe('the returner mqtt and its broker', needs(program('mosquitto')), () => {
  let server: TestServer
  let returner: Returner
  beforeAll(async () => {
    const access = join(folder, 'acl')
    await writeFile(access, 'topic readwrite salt/#\ntopic readwrite kept/#\n', { mode: 0o600 })
    server = await startMosquitto('max_packet_size 100000', `acl_file ${access}`)
    returner = await returnerWith('mqtt', { mqtt: { host: '127.0.0.1', port: server.port, timeout: 1 } })
  })
  afterAll(async () => {
    await returner.close?.()
    await server.drop()
  })
  test('publishes each return, job and event under a topic of its own', async () => {
    const { messages, close } = await listenTo(server.port, 'salt/#')
    await returner.save({ ...ret, id: 'a/b+#%' })
    await returner.saveLoad?.({ jid: ret.jid, load: { fun: 'test.ping' }, minions: ['web1'] })
    await returner.saveEvents?.([{ tag: 'salt/job/1/ret/web1', data: { n: 1 } }], 'one')
    await until('three messages', () => messages.length === 3)
    expect(messages).toEqual([
      { topic: 'salt/return/20300101000000000001/a%2Fb%2B%23%25', value: { ...ret, id: 'a/b+#%' } },
      { topic: 'salt/load/20300101000000000001', value: { fun: 'test.ping', Minions: ['web1'] } },
      { topic: 'salt/event/salt/job/1/ret/web1', value: { tag: 'salt/job/1/ret/web1', data: { n: 1 } } },
    ])
    await close()
  })

  test('encodes what a topic may not have, whatever tags minions choose', async () => {
    const { messages, close } = await listenTo(server.port, 'salt/#')
    const tags = ['odd/\u0085', 'odd/\ufdd0', 'odd/\u{1ffff}', 'odd/\u0001+']
    await returner.saveEvents?.(
      tags.map((tag) => ({ tag, data: {} })),
      'odd',
    )
    await until('all messages', () => messages.length === tags.length)
    expect(messages.map(({ topic }) => topic)).toEqual([
      'salt/event/odd/%C2%85',
      'salt/event/odd/%EF%B7%90',
      'salt/event/odd/%F0%9F%BF%BF',
      'salt/event/odd/%01%2B',
    ])
    await close()
  })

  test('publishes with the retain flag if the options say so', async () => {
    const keeping = await returnerWith('mqtt', {
      mqtt: { host: '127.0.0.1', port: server.port, retain: true, prefix: 'kept', protocol_version: 4 },
    })
    await keeping.save({ ...ret, return: 'old' })
    await keeping.save({ ...ret, return: 'new' })
    await keeping.close?.()
    const { messages, close } = await listenTo(server.port, 'kept/#')
    await until('what was kept', () => messages.length > 0)
    expect(messages.map(({ value }) => value.return)).toEqual(['new'])
    await close()
  })

  test('reports a topic that the broker does not allow', async () => {
    const forbidden = await returnerWith('mqtt', {
      mqtt: { host: '127.0.0.1', port: server.port, prefix: 'other' },
    })
    await expect(forbidden.save(ret)).rejects.toThrow('Not authorized')
    await forbidden.close?.()
  })

  test('does not save a return that is larger than the broker accepts', async () => {
    await expect(returner.save({ ...ret, return: 'x'.repeat(100_000) })).rejects.toMatchObject({
      code: 'UNSAVABLE',
    })
  })

  outageContract({
    name: 'mqtt',
    server: () => server,
    returner: () => returner,
    says: 'MQTT broker',
    nowhere: { 'mqtt.host': '127.0.0.1', 'mqtt.port': 1 },
  })
})

tlsContract({
  name: 'mqtt',
  program: 'mosquitto',
  start: ({ cert, key, clients }) =>
    startMosquitto(
      ...[`certfile ${cert}`, `keyfile ${key}`],
      ...(clients ? [`cafile ${clients}`, 'require_certificate true'] : []),
    ),
  config: (port, options) => ({ mqtt: { host: '127.0.0.1', port, ...options } }),
})
