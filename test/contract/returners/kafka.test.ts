import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Returner } from '../../../core/author/returner.ts'
import { kafkaDouble } from '../../harness/kafka.ts'
import { needs, program } from '../../harness/needs.ts'
import { aReturn, returnerWith } from '../../harness/returner.ts'
import { SLOW } from '../../harness/slow.ts'
import { outageContract } from '../outages.ts'
import { returnerContract } from '../returner.ts'
import { tlsContract, tlsOptionsOf } from '../tls.ts'

type Double = Awaited<ReturnType<typeof kafkaDouble>>

const valuesIn = (server: Double, topic = 'salt') =>
  server.records(topic).map(({ value }): Record<string, unknown> => JSON.parse(value))

await returnerContract({
  name: 'kafka',
  async prepare() {
    const server = await kafkaDouble({ users: { salt: 'geheim' } })
    return {
      config: { 'returner.kafka': { bootstrap: server.bootstrap, username: 'salt', password: 'geheim' } },
      rows: async (jid, id) => valuesIn(server).filter((value) => value.jid === jid && value.id === id),
      events: async (tag) => valuesIn(server).filter((value) => value.tag === tag),
      drop: server.drop,
    }
  },
  wrongCredentials: (config) => ({
    'returner.kafka': { ...(config['returner.kafka'] as object), password: 'falsch' },
  }),
})

const ret = aReturn({ jid: '20300101000000000001' })

describe('the returner kafka and a local double of its cluster', () => {
  let server: Double
  let returner: Returner
  const opened = (options: object = {}) =>
    returnerWith('kafka', { 'returner.kafka': { bootstrap: server.bootstrap[0], timeout: 1, ...options } })
  beforeAll(async () => {
    server = await kafkaDouble({ largest: 1_048_588 })
    returner = await opened({ event_topic: 'salt-events' })
  })
  afterAll(async () => {
    await returner.close?.()
    await server.drop()
  })

  test('reports that it was not migrated', async () => {
    await expect(returner.save(ret)).rejects.toThrow(
      `Kafka at 127.0.0.1:${server.port}: the topic does not exist. Create it with: salt-run returner.migrate kafka`,
    )
    expect(await returner.migrate?.()).toEqual(['Created the topic salt.', 'Created the topic salt-events.'])
    expect(await returner.migrate?.()).toEqual([
      'The topic salt exists already.',
      'The topic salt-events exists already.',
    ])
  })

  test('writes all of a job to one partition, in order, with ids that identify repeated records', async () => {
    await returner.saveLoad?.({ jid: ret.jid, load: { jid: ret.jid, fun: 'test.ping' }, minions: ['web1'] })
    for (const _ of ['once', 'again']) await returner.saveBatch?.([ret, { ...ret, id: 'web2' }])
    await returner.saveEvents?.(
      [
        { tag: 'salt/auth', data: {} },
        { tag: 'salt/job/1/new', data: { jid: '1' } },
      ],
      'one',
    )
    const records = server.records('salt')
    expect(new Set(records.map(({ partition }) => partition)).size).toBe(1)
    expect(records.map(({ key }) => key)).toEqual(Array.from({ length: 5 }, () => ret.jid))
    expect(records.map(({ headers }) => [headers.type, headers.id])).toEqual([
      ['job', ret.jid],
      ...['once', 'again'].flatMap(() => [
        ['return', `${ret.jid} web1`],
        ['return', `${ret.jid} web2`],
      ]),
    ])
    expect(JSON.parse(records[1]?.value ?? '')).toEqual(ret)
    const events = server.records('salt-events').sort((a, b) => (a.key < b.key ? -1 : 1))
    expect(events.map(({ key, headers: { type, id } }) => [key, type, id])).toEqual([
      ['1', 'event', 'one 1'],
      ['salt/auth', 'event', 'one 0'],
    ])
  })

  test('is read by kcat', needs(program('kcat')), async () => {
    const args = ['-C', '-b', server.bootstrap.join(), '-t', 'salt', '-o', 'beginning', '-e', '-q', '-J']
    const { stdout } = await promisify(execFile)('kcat', [...args, '-X', 'check.crcs=true'])
    const read = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(read.map(({ key, payload, headers }) => [key, payload, headers])).toEqual(
      server
        .records('salt')
        .map(({ key, value, headers: { type, id } }) => [key, value, ['type', type, 'id', id]]),
    )
  })

  test('writes to the new leader when another broker becomes the leader', async () => {
    const before = server.records('salt').length
    server.elect()
    await returner.save(ret)
    expect(server.records('salt')).toHaveLength(before + 1)
  })

  test('has records once whose acknowledgement was lost, and loses no later ones', SLOW, async () => {
    const before = server.records('salt').length
    server.loseAnswers(1)
    await expect(returner.save({ ...ret, return: 'first' })).rejects.toThrow('no answer within 1 seconds')
    await returner.save({ ...ret, return: 'second' })
    const found = valuesIn(server)
      .slice(before)
      .map((value) => value.return)
    expect(found).toEqual(['first', 'second'])
  })

  test('splits a batch that is larger than the cluster accepts', async () => {
    const jid = '20300101000000000002'
    await returner.saveBatch?.(
      Array.from({ length: 30 }, (_, n) => ({ ...ret, jid, id: `m${n}`, return: 'x'.repeat(100_000) })),
    )
    expect(valuesIn(server).filter((value) => value.jid === jid)).toHaveLength(30)
  })

  test('does not save a return that is larger than the cluster accepts, and saves the next one', async () => {
    await expect(returner.save({ ...ret, return: 'x'.repeat(2_000_000) })).rejects.toMatchObject({
      code: 'UNSAVABLE',
    })
    await returner.save(ret)
  })

  test('writes without a producer id with idempotent: false', async () => {
    const plain = await opened({ idempotent: false })
    await plain.save({ ...ret, id: 'plain' })
    expect(valuesIn(server).filter((value) => value.id === 'plain')).toHaveLength(1)
    await plain.close?.()
  })

  outageContract({
    name: 'kafka',
    server: () => server,
    returner: () => returner,
    says: 'Kafka',
    nowhere: { 'returner.kafka.bootstrap': ['127.0.0.1:1'] },
  })
})

describe('the returner kafka and a local double of its cluster, with users', () => {
  let server: Double
  beforeAll(async () => {
    server = await kafkaDouble({ topics: ['salt'], users: { salt: 'geheim' } })
  })
  afterAll(() => server.drop())
  const saveWith = async (options: object) => {
    const kafka = { bootstrap: server.bootstrap, username: 'salt', password: 'geheim', ...options }
    const returner = await returnerWith('kafka', { 'returner.kafka': kafka })
    try {
      await returner.save(ret)
    } finally {
      await returner.close?.()
    }
  }

  test.each(['plain', 'scram-sha-256'])(
    'signs in by %s, and reports a wrong password',
    async (sasl_mechanism) => {
      await saveWith({ sasl_mechanism })
      await expect(saveWith({ sasl_mechanism, password: 'falsch' })).rejects.toThrow('Authentication failed')
    },
  )
  test('reports that the cluster does not support the mechanism', async () => {
    await expect(saveWith({ sasl_mechanism: 'scram-sha-512' })).rejects.toThrow(
      'The broker does not support the requested SASL mechanism',
    )
  })
})

tlsContract({
  name: 'kafka',
  start: async (files) => await kafkaDouble({ topics: ['salt'], tls: await tlsOptionsOf(files) }),
  config: (port, options) => ({ 'returner.kafka': { bootstrap: `127.0.0.1:${port}`, ...options } }),
})
