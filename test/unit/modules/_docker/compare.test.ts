import { beforeEach, describe, expect, test } from 'vitest'
import * as docker from '../../../../modules/dockermod.ts'
import { type AnyFn, call } from '../context.ts'
import { type Engine, engineContext, openEngine } from './engine.ts'

let folder: string
let engine: Engine

beforeEach(async () => {
  ;({ folder, engine } = await openEngine())
})

const keys = { static: ['Aliases', 'Links', 'IPAMConfig'], automatic: ['IPAddress', 'Gateway'] }
const context = () => engineContext(folder, { call: (async () => keys) as never })
const ask = (fn: AnyFn, given: Record<string, unknown> = {}, own = context()) => call(fn, given, own)

describe('docker.compare_containers (a stand-in for Docker Engine)', () => {
  const compare = (one: object, other: object, ignore?: string) => {
    engine.containers = { a: { Id: '1', ...one }, b: { Id: '2', ...other } }
    return ask(docker.compare_containers, { first: 'a', second: 'b', ...(ignore && { ignore }) })
  }

  test('returns what differs in either of two containers', async () => {
    const one = { Config: { Hostname: 'a', Env: ['B=2', 'A=1'], Tty: false }, HostConfig: { Memory: 1 } }
    const other = { Config: { Hostname: 'b', Env: ['A=1', 'B=2'], New: 1 }, HostConfig: { Memory: 2 } }
    expect(await compare(one, other)).toEqual({
      Config: { Hostname: { old: 'a', new: 'b' }, New: { old: null, new: 1 } },
      HostConfig: { Memory: { old: 1, new: 2 } },
    })
    expect(await compare(one, other, 'Hostname, Memory,New')).toEqual({})
  })

  test('knows lists in another order, links of each container, and images by their ids', async () => {
    const host = (links: string[], Ulimits: object[]) => ({ Links: links, Ulimits, OomKillDisable: null })
    const limits = [
      { Name: 'nofile', Soft: 1, Hard: 2 },
      { Name: 'core', Soft: 1, Hard: 2 },
    ]
    const one = { Config: { Image: 'debian:12' }, HostConfig: host(['/x:/a/x', '/y:/a/y'], limits) }
    const other = {
      Config: { Image: 'debian:latest' },
      HostConfig: { ...host(['/y:/b/y', '/x:/b/x'], limits.toReversed()), OomKillDisable: false },
    }
    expect(await compare(one, other)).toEqual({})
    const changed = { ...other, Config: { Image: 'sha256:bbbbbbbbbbbbbbbb' } }
    expect(await compare(one, changed)).toEqual({
      Config: { Image: { old: 'sha256:aaaaaaaaaaaaaaaa', new: 'sha256:bbbbbbbbbbbbbbbb' } },
    })
  })

  test('needs what Docker says about both', async () => {
    await expect(compare({ Config: {}, HostConfig: {} }, {})).rejects.toThrow(
      "Docker says nothing about the Config of container 'b'.",
    )
  })
})

describe('docker.compare_container_networks (a stand-in for Docker Engine)', () => {
  const compare = (one: object, other: object, running = false) => {
    const container = (Id: string, Hostname: string, Networks: object) => ({
      Id,
      Config: { Hostname },
      State: { Running: running },
      NetworkSettings: { Networks },
    })
    engine.containers = { a: container('id1', 'ha', one), b: container('id2', 'hb', other) }
    return ask(docker.compare_container_networks, { first: 'a', second: 'b' })
  }
  const chosen = { IPv4Address: '192.0.2.5' }
  const automatic = { Aliases: null, Links: null, IPAMConfig: null, IPAddress: '192.0.2.9', Gateway: '' }

  test('returns aliases and links that differ, but not names that each container has', async () => {
    const one = { web: { ...automatic, Aliases: ['ha', 'id1', 'x'], Links: ['b', 'a'] } }
    const other = { web: { ...automatic, Aliases: ['x', 'hb'], Links: ['a', 'b'] } }
    expect(await compare(one, other)).toEqual({})
    other.web.Aliases = ['y']
    expect(await compare(one, other)).toEqual({ web: { Aliases: { old: ['x'], new: ['y'] } } })
  })

  test('returns addresses that were chosen on one side, and automatic ones on the other', async () => {
    const fixed = { ...automatic, IPAMConfig: chosen }
    expect(await compare({ web: automatic }, { web: fixed })).toEqual({
      web: { IPAddress: { old: '192.0.2.9', new: null }, IPAMConfig: { old: null, new: chosen } },
    })
    expect(await compare({ web: fixed }, { web: { ...automatic, IPAddress: '' } })).toEqual({
      web: { IPConfiguration: { old: 'static', new: 'automatic' }, IPAMConfig: { old: chosen, new: null } },
    })
    expect(await compare({ web: fixed }, { web: fixed })).toEqual({})
  })

  test('returns networks that only one of them has', async () => {
    const own = { ...automatic, Aliases: ['hb', 'x'] }
    expect(await compare({}, { web: own })).toEqual({
      web: { Aliases: { old: null, new: ['x'] }, IPAddress: { old: null, new: '192.0.2.9' } },
    })
    expect(await compare({ web: { ...automatic, IPAddress: '' } }, {})).toEqual({
      web: { IPConfiguration: { old: 'automatic', new: 'not connected' } },
    })
    expect(await compare({ web: { ...automatic, IPAMConfig: chosen } }, {})).toEqual({
      web: { IPAMConfig: { old: chosen, new: null } },
    })
  })

  test('leaves out networks to which a running container is not connected', async () => {
    engine.answers['GET /networks/web'] = { content: { Containers: { id1: {} } } }
    const both = [{ web: automatic }, { web: automatic }] as const
    expect(await compare(...both, true)).toEqual({ web: { IPAddress: { old: '192.0.2.9', new: null } } })
    engine.answers['GET /networks/web'] = { status: 404, content: { message: 'gone' } }
    expect(await compare(...both, true)).toEqual({})
  })
})

describe('Networks and who is connected (a stand-in for Docker Engine)', () => {
  test('two networks are compared', async () => {
    const pools = [{ Subnet: '192.0.2.0/24' }, { Subnet: '198.51.100.0/24' }]
    const one = {
      Name: 'a',
      Driver: 'bridge',
      Internal: false,
      IPAM: { Driver: 'default', Options: null, Config: pools },
      Options: { 'com.docker.network.bridge.name': 'br1', mtu: '1' },
      Labels: {},
    }
    const other = {
      ...one,
      Name: 'b',
      Driver: 'macvlan',
      IPAM: { Driver: 'default', Options: {}, Config: pools.toReversed() },
      Options: { mtu: '2' },
      Labels: { a: 'b' },
      New: 1,
    }
    engine.answers['GET /networks/a'] = { content: one }
    const compare = (given: object) => ask(docker.compare_networks, { first: 'a', second: other, ...given })
    expect(await compare({})).toEqual({
      Driver: { old: 'bridge', new: 'macvlan' },
      Options: { mtu: { old: '1', new: '2' } },
      Labels: { old: {}, new: { a: 'b' } },
      New: { old: null, new: 1 },
    })
    expect(await compare({ ignore: ['Name', 'Driver', 'Options', 'Labels', 'New'] })).toEqual({})
    const smaller = { ...one, IPAM: { Driver: 'default', Config: pools.slice(1) } }
    expect(await ask(docker.compare_networks, { first: 'a', second: smaller })).toEqual({
      IPAM: { Config: { old: pools, new: pools.slice(1) } },
    })
  })

  test('containers of a network are listed by name', async () => {
    const Containers = { c1: { Name: 'web', IPv4Address: '192.0.2.5/24' }, c2: {} }
    engine.answers['GET /networks/n'] = { content: { Containers } }
    expect(await ask(docker.connected, { name: 'n' })).toEqual(['web'])
    expect(await ask(docker.connected, { name: 'n', verbose: true })).toEqual({
      web: { IPv4Address: '192.0.2.5/24', Id: 'c1' },
    })
    engine.answers['GET /networks/n'] = { content: {} }
    expect(await ask(docker.connected, { name: 'n' })).toEqual([])
  })

  test('all containers of a network are disconnected', async () => {
    const Containers = { c1: { Name: 'web' }, c2: { Name: 'db' } }
    engine.answers['GET /networks/n'] = { content: { Containers } }
    engine.answers['POST /networks/n/disconnect'] = {}
    const disconnect = () => ask(docker.disconnect_all_containers_from_network, { network_id: 'n' })
    expect(await disconnect()).toEqual(['web', 'db'])
    engine.answers['POST /networks/n/disconnect'] = { status: 404, content: { message: 'gone' } }
    expect(await disconnect()).toEqual([])
    engine.answers['POST /networks/n/disconnect'] = { status: 500, content: { message: 'no' } }
    await expect(disconnect()).rejects.toThrow(
      'One or more containers failed to be removed. Additional info follows:\n\nerrors:\n    - Error 500: no\n    - Error 500: no\nremoved:',
    )
  })
})
