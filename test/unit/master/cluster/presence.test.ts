import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import {
  type ConnectedElsewhere,
  connectedElsewhere,
  connectedToCluster,
} from '../../../../core/cache/connected.ts'
import { connectedElsewhereFile, connectedFile } from '../../../../core/config/cachedir.ts'
import type { MasterConfig } from '../../../../core/config/index.ts'
import { replicatedPresence } from '../../../../core/master/cluster/presence.ts'
import { Replica } from '../../../../core/master/cluster/replica.ts'
import { SharedValues } from '../../../../core/master/cluster/shared-values.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { keyPair } from '../../../harness/key-pairs.ts'
import { quietLog } from '../../../harness/log.ts'
import { MemoryStore } from '../../../harness/memory-store.ts'

let root: string
let store: MemoryStore
let now: number
const closing: (() => Promise<void>)[] = []
beforeEach(async () => {
  root = await temporaryFolder()
  store = new MemoryStore()
  now = Date.now()
})
afterEach(async () => {
  vi.useRealTimers()
  for (const close of closing.splice(0)) await close()
  await removeFolder(root)
})

async function master(name: string) {
  const config = { cachedir: join(root, name), cluster_id: 'north' } as MasterConfig
  await mkdir(config.cachedir, { recursive: true })
  const presence = replicatedPresence({
    config,
    master: name,
    now: () => now,
    others: await connectedElsewhere(config),
    keep: (others: ConnectedElsewhere) => writeFile(connectedElsewhereFile(config), JSON.stringify(others)),
  })
  const replica = Replica.open(config.cachedir, {
    shared: new SharedValues(store, 'north', await keyPair('master')),
    kinds: [presence],
    cluster: 'north',
    master: name,
    log: quietLog,
    now: () => now,
  })
  closing.push(() => replica.close())
  const connect = (...present: string[]) =>
    writeFile(connectedFile(config), JSON.stringify({ present, lost: [] }))
  return { replica, connect, present: () => connectedToCluster(config) }
}

test('masters of a cluster share their connected minions, and drop those of a master that is long silent', async () => {
  const [one, two] = [await master('one'), await master('two')]
  await one.connect('web1', 'web2')
  await two.connect('web2', 'web3')
  for (const { replica } of [one, two, one]) await replica.exchange()
  for (const { present } of [one, two]) expect(await present()).toEqual(['web1', 'web2', 'web3'])
  await two.connect()
  for (const { replica } of [two, one]) await replica.exchange()
  expect(await one.present()).toEqual(['web1', 'web2'])
  const { last } = store
  for (const { replica } of [one, two, one]) await replica.exchange()
  expect(store.last).toBe(last)
  now += 30_000
  for (const { replica } of [one, two]) await replica.exchange()
  expect(store.last).toBe(last + 2)
  vi.useFakeTimers({ now: now + 60_000, toFake: ['Date'] })
  expect(await two.present()).toEqual([])
})

test('a master that restarts does not remove minions that others reported', async () => {
  const [one, two] = [await master('one'), await master('two')]
  await one.connect('web1')
  for (const { replica } of [one, two]) await replica.exchange()
  await two.replica.close()
  closing.pop()
  const again = await master('two')
  for (const { replica } of [again, one, again]) await replica.exchange()
  expect(await again.present()).toEqual(['web1'])
})
