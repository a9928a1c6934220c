import { readFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Connections } from '../../../../core/cache/connected.ts'
import { minionTopic } from '../../../../core/channel/publish-channel.ts'
import { Presence } from '../../../../core/master/publisher/presence.ts'
import {
  grainAddresses,
  remoteAddresses,
  remotesIn,
} from '../../../../core/master/publisher/remote-addresses.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'

describe('presence', () => {
  let directory: string
  beforeEach(async () => {
    directory = await temporaryFolder('salt-ts-presence-')
  })
  afterEach(() => removeFolder(directory))

  test('identifies minions by their topic, and those that subscribe to everything by their address', async () => {
    const fired: unknown[] = []
    const state = { topics: ['ours'], subscribers: 2, near: ['ours2', 'python'] }
    const presence = new Presence({
      acceptedIds: async () => ['ours', 'ours2', 'python', 'far'],
      topics: () => new Set(state.topics.map(minionTopic)),
      subscribers: () => state.subscribers,
      byAddress: async (ids) => ids.filter((id) => state.near.includes(id)),
      fire: (_, data) => fired.push(data),
      file: join(directory, 'connected.json'),
      elapsed: () => 0,
      events: true,
    })
    const file = async () => JSON.parse(await readFile(join(directory, 'connected.json'), 'utf8'))

    state.topics = ['ours', 'ours2']
    state.subscribers = 3
    await presence.update()
    expect(fired).toEqual([{ new: ['ours', 'ours2', 'python'], lost: [] }])

    state.topics = ['ours'] // its host is still connected to by another minion
    state.subscribers = 2
    await presence.update()
    expect(fired[1]).toEqual({ new: [], lost: ['ours2'] })

    state.subscribers = 1 // nobody is left who could be the other
    await presence.update()
    expect(fired[2]).toEqual({ new: [], lost: ['python'] })
    expect(await file()).toEqual({
      present: ['ours'],
      lost: ['ours2', 'python'],
      reconnecting: ['ours2', 'python'],
    })
  })

  test('recognizes a minion by its address again once the key of the one with its id was deleted', async () => {
    const fired: unknown[] = []
    const state = { accepted: ['web1'], topics: ['web1'], subscribers: 1 }
    const presence = new Presence({
      acceptedIds: async () => state.accepted,
      topics: () => new Set(state.topics.map(minionTopic)),
      subscribers: () => state.subscribers,
      byAddress: async (ids) => ids,
      fire: (_, data) => fired.push(data),
      file: join(directory, 'connected.json'),
      elapsed: () => 0,
      events: true,
    })
    await presence.update()
    Object.assign(state, { accepted: [], topics: [], subscribers: 0 })
    await presence.update()
    Object.assign(state, { accepted: ['web1'], subscribers: 1 }) // now one of Python Salt
    await presence.update()
    expect(fired.at(-1)).toEqual({ new: ['web1'], lost: [] })
  })

  test('keeps minions as expected for a while after they are lost, and after a restart of the publisher', async () => {
    const state = { accepted: ['gone', 'web1', 'web2'], topics: ['web1', 'web2'], elapsed: 0 }
    const path = join(directory, 'connected.json')
    const file = async () => JSON.parse(await readFile(path, 'utf8'))
    const open = (previous?: Connections) =>
      new Presence({
        acceptedIds: async () => state.accepted,
        topics: () => new Set(state.topics.map(minionTopic)),
        subscribers: () => state.topics.length,
        byAddress: async () => [],
        fire: () => {},
        file: path,
        previous,
        elapsed: () => state.elapsed,
        events: false,
      })
    const first = open({ present: [], lost: ['gone', 'deleted'] })
    await first.update()
    expect(await file()).toEqual({ present: ['web1', 'web2'], lost: ['gone'], reconnecting: [] })

    state.topics = []
    const second = open(await file())
    await second.update()
    expect(await file()).toEqual({
      present: [],
      lost: ['gone', 'web1', 'web2'],
      reconnecting: ['web1', 'web2'],
    })

    state.topics = ['web1']
    state.elapsed = 40_000
    await second.update()
    expect(await file()).toEqual({ present: ['web1'], lost: ['gone', 'web2'], reconnecting: [] })

    state.topics = []
    await second.update()
    expect(await file()).toEqual({ present: [], lost: ['gone', 'web2', 'web1'], reconnecting: ['web1'] })

    state.topics = ['web1']
    await second.update()
    state.accepted = ['gone', 'web2'] // its key is deleted, and its connection closed
    state.topics = []
    await second.update()
    expect(await file()).toEqual({ present: [], lost: ['gone', 'web2'], reconnecting: [] })
  })
})

describe('addresses of connected peers', () => {
  test('are read from the tables of the kernel', () => {
    const tcp = [
      '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
      '   0: 00000000:1199 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1',
      '   1: 0100000A:1199 0700000A:C350 01 00000000:00000000 00:00000000 00000000     0        0 2 1',
      '   2: 0100000A:119A 0800000A:C350 01 00000000:00000000 00:00000000 00000000     0        0 3 1',
      '   3: 0100000A:1199 0900000A:C350 06 00000000:00000000 00:00000000 00000000     0        0 4 1',
    ].join('\n')
    expect(remotesIn(tcp, 4505)).toEqual(['10.0.0.7'])
    const tcp6 = [
      '   1: 0000000000000000FFFF00000100000A:1199 0000000000000000FFFF00000700000A:C350 01 0:0',
      '   2: B80D0120000000000000000001000000:1199 B80D0120000000000000000007000000:C350 01 0:0',
    ].join('\n')
    expect(remotesIn(tcp6, 4505)).toEqual(['10.0.0.7', '2001:db8::7'])
  })

  test('include all addresses of this host if the peer is on it', async () => {
    const server = createServer()
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const { port } = server.address() as { port: number }
    expect(await remoteAddresses(port)).toEqual(new Set())
    const client = connect(port, '127.0.0.1')
    await new Promise((done) => server.once('connection', done))
    const own = Object.values(networkInterfaces()).flatMap((all) => all ?? [])
    const outer = own.filter(({ internal }) => !internal).map(({ address }) => address)
    expect(await remoteAddresses(port)).toEqual(new Set(outer))
    client.destroy()
    server.close()
  })

  test('are compared with those in the grains, except loopback', () => {
    expect(grainAddresses({ ipv4: ['127.0.0.1', '10.0.0.7'], ipv6: ['::1', '2001:db8::7'] })).toEqual([
      '10.0.0.7',
      '2001:db8::7',
    ])
    expect(grainAddresses({ ipv4: '10.0.0.7' })).toEqual([])
    expect(grainAddresses()).toEqual([])
  })
})
