/** Returns of many megabytes: they arrive whole, whatever happens meanwhile, and cost the minion's own process little. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { untyped } from '../../core/author/calls.ts'
import type { LocalClient } from '../../core/client/index.ts'
import { ReturnSpool } from '../../core/jobs/return-spool.ts'
import { Cluster, type Daemon } from '../harness/daemons.ts'
import { awaitedReturn, storedReturn } from '../harness/stored-returns.ts'
import { until } from '../harness/until.ts'

const MB = 1_000_000
const SIZE = 20 * MB

const functions = `
export const text = () => 'salt is good for you '.repeat(${SIZE / 20}).slice(0, ${SIZE})
export const bytes = () => Buffer.alloc(${SIZE}, Buffer.from([0xff, 1, 2]))
export const huge = () => 'x'.repeat(${110 * MB})
export const list = () => Array.from({ length: ${SIZE / 100} }, (_, n) => String(n).padStart(98, 'x'))
`
const expected = {
  text: 'salt is good for you '.repeat(SIZE / 20).slice(0, SIZE),
  bytes: Buffer.alloc(SIZE, Buffer.from([0xff, 1, 2])),
  list: Array.from({ length: SIZE / 100 }, (_, n) => String(n).padStart(98, 'x')),
}
type Kind = keyof typeof expected

let cluster: Cluster
let client: LocalClient
let minion: Daemon
/** Memory of the minion before any of them. */
let before: number

beforeAll(async () => {
  cluster = await Cluster.open()
  const modules = join(cluster.root, 'modules')
  await mkdir(modules)
  await writeFile(join(modules, 'big.mjs'), functions)
  minion = await cluster.addMinion('web1', { module_dirs: [modules] })
  client = await cluster.client()
  before = await memory()
}, 120_000)
afterAll(async () => {
  await client?.close()
  await cluster?.close()
})

const begin = async (kind: Kind) =>
  (await client.runJob({ tgt: 'web1', fun: untyped(`big.${kind}`), arg: [] })).jid

const arrived = (jid: string) => awaitedReturn(cluster, minion, jid)

const isWhole = (ret: Record<string, unknown>, kind: Kind) => {
  const value = ret.return as (typeof expected)[Kind]
  const same = Array.isArray(value)
    ? value.join() === expected.list.join()
    : Buffer.from(value as string).equals(Buffer.from(expected[kind] as string))
  return same && value.length === expected[kind].length
}

/** Bytes of memory of the minion's own process, without files that are mapped. */
async function memory(): Promise<number> {
  const status = await readFile(`/proc/${minion.pid}/status`, 'latin1')
  return Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024
}

async function inSpool<T>(read: (spool: ReturnSpool) => T): Promise<T> {
  const spool = ReturnSpool.open(join(minion.directory, 'cache', 'spool'))
  try {
    return read(spool)
  } finally {
    await spool.close()
  }
}

/** A return may be in both: its master was killed before the minion had the acknowledgement. */
const isOnDisk = async (jid: string): Promise<boolean> =>
  storedReturn(cluster, jid) !== undefined || (await inSpool((spool) => spool.first(jid))) !== undefined

test.each(['text', 'bytes', 'list'] as const)(
  'a return that is a large %s takes at most seven times its size in memory, and frees it afterwards',
  async (kind) => {
    let [most, isOver] = [0, false]
    const looked = (async () => {
      for (; !isOver; await delay(10)) most = Math.max(most, await memory())
    })()
    const ret = await arrived(await begin(kind)).finally(() => {
      isOver = true
    })
    await looked
    expect(isWhole(ret, kind)).toBe(true)
    expect((most - before) / SIZE).toBeLessThan(7)
  },
)

test('a large return is delivered after a restart if the minion was killed while its master was down', async () => {
  const jids = [await begin('text'), await begin('list')]
  await cluster.master.killAll()
  for (const jid of jids) await until(`the return of ${jid} to be on disk`, () => isOnDisk(jid))
  await minion.killAll()
  await cluster.startMaster()
  minion.output = ''
  minion.start()
  for (const [index, kind] of (['text', 'list'] as const).entries())
    expect(isWhole(await arrived(jids[index]!), kind)).toBe(true)
  await until('nothing to be left in the spool', async () => (await inSpool(({ size }) => size)) === 0)
})

test('a return larger than a master accepts comes as a failed one that says its size and the limit', async () => {
  const { jid } = await client.runJob({ tgt: 'web1', fun: untyped('big.huge'), arg: [] })
  expect(await arrived(jid)).toMatchObject({
    return: 'ERROR: The return is too large: it has 104.9 MiB, and a master accepts 99.9 MiB at most.',
    retcode: 1,
    success: false,
  })
})
