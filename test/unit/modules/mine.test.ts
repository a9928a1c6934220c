import type { Context } from 'salt-ts'
import { describe, expect, test } from 'vitest'
import * as mine from '../../../modules/mine.ts'
import { SLOW } from '../../harness/slow.ts'
import { call, fakeContext } from './context.ts'

/** A minion with two functions, and what it asks its master or keeps itself. */
function minion(opts: Record<string, unknown> = {}, configured: unknown = {}) {
  const asked: Record<string, unknown>[] = []
  let data: Record<string, unknown> = {}
  const functions: Record<string, (args: readonly unknown[], kwargs: object) => unknown> = {
    'test.ping': () => true,
    'test.arg': (args, kwargs) => ({ args, kwargs }),
    'test.fail': () => {
      throw new Error('it fails')
    },
    'config.merge': () => configured,
  }
  const context = fakeContext({
    opts,
    call: (async (name: string, args: readonly unknown[] = [], kwargs: object = {}) =>
      functions[name]?.(args, kwargs)) as Context['call'],
    match: async (tgt) => tgt === '*' || tgt === 'm1',
    loader: { has: async (name: string) => name in functions } as Context['loader'],
    minion: {
      async request(load: Record<string, unknown>) {
        asked.push(load)
        return load.cmd === '_mine_get' ? { m1: 1, m2: 2 } : true
      },
      readData: async () => data,
      async changeData({ put }: { put: Record<string, unknown> }) {
        data = { ...data, ...put }
        return true
      },
    } as unknown as Context['minion'],
  })
  return { context, asked, kept: () => data.mine_cache }
}

describe('mine', () => {
  test('sends the value of a function, under its name or another, and for some minions only', async () => {
    const { context, asked } = minion()
    expect(await call(mine.send, { name: 'test.ping' }, context)).toBe(true)
    const kwargs = {
      mine_function: 'test.arg',
      key: 'v',
      allow_tgt: 'web*',
      allow_tgt_type: 'glob',
      __pub_jid: '1',
    }
    await call(mine.send, { name: 'here', args: [1], kwargs }, context)
    expect(asked).toEqual([
      { cmd: '_mine', id: 'm1', data: { 'test.ping': true }, clear: false },
      {
        cmd: '_mine',
        id: 'm1',
        clear: false,
        data: {
          here: {
            __data__: { args: [1], kwargs: { key: 'v' } },
            __saltmine_acl__: 1,
            allow_tgt: 'web*',
            allow_tgt_type: 'glob',
          },
        },
      },
    ])
  })

  test('sends nothing for a function that fails or is missing', async () => {
    const { context, asked } = minion()
    expect(await call(mine.send, { name: 'test.fail' }, context)).toBe(false)
    expect(await call(mine.send, { name: 'no.such' }, context)).toBe(false)
    expect(asked).toEqual([])
    expect(context.lines.map(({ message }) => message)).toEqual([
      expect.stringContaining('The function test.fail failed'),
      'Function no.such in mine_functions not available',
    ])
  })

  const configured = {
    'test.ping': [],
    alias: [{ mine_function: 'test.arg' }, 1, { key: 'v' }],
    'test.arg': { key: 'w', allow_tgt: 'web1' },
    'test.fail': [],
    'no.such': [],
  }

  test('updates the functions of mine_functions, except failed ones', async () => {
    const { context, asked } = minion({}, configured)
    expect(await call(mine.update, {}, context)).toBe(true)
    expect(asked).toEqual([
      {
        cmd: '_mine',
        id: 'm1',
        clear: false,
        data: {
          'test.ping': true,
          alias: { args: [1], kwargs: { key: 'v' } },
          'test.arg': {
            __data__: { args: [], kwargs: { key: 'w' } },
            __saltmine_acl__: 1,
            allow_tgt: 'web1',
          },
        },
      },
    ])
    await call(mine.update, { clear: true, mine_functions: ['test.ping'] }, context)
    expect(asked.at(-1)).toMatchObject({ data: { 'test.ping': true }, clear: true })
    expect(await call(mine.update, {}, minion().context)).toBeNull()
  })

  test('lists the configured functions that are available', async () => {
    const { context } = minion({}, configured)
    expect(await call(mine.valid, {}, context)).toEqual({
      'test.ping': [],
      alias: { 'test.arg': [1, { key: 'v' }] },
      'test.arg': { key: 'w', allow_tgt: 'web1' },
      'test.fail': [],
    })
    expect(await call(mine.valid, {}, minion().context)).toBeNull()
  })

  test('gets values of other minions, with this minion or without', async () => {
    const { context, asked } = minion()
    expect(await call(mine.get, { tgt: '*', fun: 'test.ping' }, context)).toEqual({ m1: 1, m2: 2 })
    expect(await call(mine.get, { tgt: '*', fun: 'test.ping', exclude_minion: true }, context)).toEqual({
      m2: 2,
    })
    expect(asked[0]).toEqual({ cmd: '_mine_get', id: 'm1', tgt: '*', fun: 'test.ping', tgt_type: 'glob' })
  })

  test('deletes a value, or all', async () => {
    const { context, asked } = minion()
    expect(await call(mine.delete, { fun: 'test.ping' }, context)).toBe(true)
    expect(await call(mine.flush, {}, context)).toBe(true)
    expect(asked).toEqual([
      { cmd: '_mine_delete', id: 'm1', fun: 'test.ping' },
      { cmd: '_mine_flush', id: 'm1' },
    ])
  })

  test('is stored by the minion itself if it has no master', async () => {
    const { context, kept, asked } = minion({ file_client: 'local' })
    await call(mine.send, { name: 'test.ping' }, context)
    await call(mine.send, { name: 'here', kwargs: { mine_function: 'test.ping', allow_tgt: 'x' } }, context)
    const get = (tgt: string, fun: unknown) => call(mine.get, { tgt, fun }, context)
    expect(await get('*', 'test.ping')).toEqual({ m1: true })
    expect(await get('*', 'test.ping,here')).toEqual({ 'test.ping': { m1: true }, here: { m1: true } })
    expect(await get('m2', 'test.ping')).toEqual({})
    expect(await get('*', 5)).toEqual({})
    await call(mine.delete, { fun: 'test.ping' }, context)
    expect(Object.keys(kept() as object)).toEqual(['here'])
    await call(mine.flush, {}, context)
    expect(kept()).toEqual({})
    expect(asked).toEqual([])
  })
})

describe('get_docker', () => {
  const addresses = (...all: string[]) => ({ inet: all.map((address) => ({ address })) })
  const published = (IP: string) => [{ IP, PrivatePort: 80, PublicPort: 8080 }, { PrivatePort: 443 }]
  const sent = {
    host: {
      interfaces: { eth0: addresses('10.0.0.5', '192.168.0.5'), lo: addresses('127.0.0.1'), down: {} },
    },
    c1: { Info: { Id: 'abc' }, Image: 'nginx', Ports: published('0.0.0.0') },
    c2: { Info: { Id: 'def' }, Image: 'redis', Ports: published('10.1.1.1') },
    c3: { Info: { Id: 'ghi' }, Image: 'idle', Ports: [] },
  }
  const ask = async (given: Record<string, unknown>, host: unknown = sent) => {
    const { context } = minion({ file_client: 'local' })
    await context.minion.changeData({ put: { mine_cache: { 'docker.ps': host } } })
    return call(mine.get_docker, given, context)
  }
  const ports = (...places: unknown[]) => ({ ipv4: new Map([[80, places]]) })
  const others = { redis: ports('10.1.1.1:8080'), idle: {} }

  test('lists published ports of containers, by image and private port', async () => {
    expect(await ask({})).toEqual({
      nginx: ports('10.0.0.5:8080', '192.168.0.5:8080', '127.0.0.1:8080'),
      ...others,
    })
    expect(await ask({ with_container_id: true, cidrs: '10.0.0.0/8' })).toEqual({
      nginx: ports(['10.0.0.5:8080', 'abc']),
      redis: ports(['10.1.1.1:8080', 'def']),
      idle: {},
    })
  })

  test('skips values of minions that are no addresses, and handles many ports of one', SLOW, async () => {
    const ports = Array.from({ length: 30_000 }, (_, at) => ({
      IP: '10.1.1.2',
      PrivatePort: 80,
      PublicPort: at,
    }))
    const odd = { host: { interfaces: { eth0: { inet: [{ address: 'x' }, {}, { address: '10.0.0.7' }] } } } }
    const listening = { Image: 'nginx', Ports: [{ IP: '0.0.0.0', PrivatePort: 1, PublicPort: 2 }] }
    const many = { Image: 'many', Ports: [...ports, ...ports] }
    const { context } = minion({ file_client: 'local' })
    await context.minion.changeData({ put: { mine_cache: { 'docker.ps': { ...odd, listening, many } } } })
    const found = (await call(mine.get_docker, { cidrs: '10.0.0.0/8' }, context)) as Record<string, unknown>
    expect(found.nginx).toEqual({ ipv4: new Map([[1, ['10.0.0.7:2']]]) })
    expect((found.many as { ipv4: Map<number, string[]> }).ipv4.get(80)).toHaveLength(30_000)
  })

  test('uses the addresses of some interfaces and networks only', async () => {
    const chosen = { interfaces: ['eth0', 'down'], cidrs: ['192.168.0.0/24', '172.16.0.0/12'] }
    expect(await ask(chosen)).toEqual({ nginx: ports('192.168.0.5:8080'), ...others })
    expect(await ask({ interfaces: 'nosuch' })).toEqual({ nginx: {}, ...others })
  })

  test('leaves out invalid addresses of other hosts', async () => {
    const odd = { ...sent, host: { interfaces: { eth0: addresses('10.0.0.5', 'odd') } } }
    expect(await ask({ cidrs: '10.0.0.0/8' }, odd)).toMatchObject({ nginx: ports('10.0.0.5:8080') })
  })
})
