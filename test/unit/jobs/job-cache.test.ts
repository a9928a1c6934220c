import { execa } from 'execa'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { decode, Float } from '../../../core/codec/index.ts'
import type { BatchOrder } from '../../../core/jobs/batches.ts'
import { JobCache } from '../../../core/jobs/job-cache.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { SLOW } from '../../harness/slow.ts'
import { testProgram } from '../../harness/test-program.ts'
import { bytes, vectors } from '../../harness/vectors.ts'

const child = await testProgram('job-cache-child.ts', import.meta.url)
const jid = '20240229120000000001'
const load = { fun: 'test.ping', tgt: '*', arg: [] }

let directory: string
let now: number
const open: JobCache[] = []

function openCache(): JobCache {
  const cache = JobCache.open(directory, { clock: { now: () => now } })
  open.push(cache)
  return cache
}

beforeEach(async () => {
  directory = await temporaryFolder('salt-jobs-')
  now = Date.UTC(2024, 1, 29)
})

afterEach(async () => {
  await Promise.all(open.splice(0).map((cache) => cache.close()))
  await removeFolder(directory)
})

describe('a job', () => {
  test('is returned as it was saved', async () => {
    const cache = openCache()
    const rich = { ...load, arg: [new Float(1), 2n ** 63n, Buffer.from([0xff]), 'ż'] }
    await cache.saveLoad(jid, rich, ['a', 'b'])
    expect(cache.load(jid)).toEqual({ load: rich, minions: ['a', 'b'] })
    expect(cache.load('20240229120000000002')).toBeUndefined()
  })

  test('is a wave of the batch in its metadata if the same user published both and it is not the ping of the batch', async () => {
    const cache = openCache()
    const wave = (n: number, user: string, metadata: object) =>
      cache.create(`2024022912000000001${n}`, { ...load, user, metadata }, ['a'])
    await cache.create(jid, { ...load, user: 'ann', metadata: { batch_jid: jid } }, ['a'])
    await wave(1, 'ann', { batch_jid: jid })
    await wave(2, 'bob', { batch_jid: jid })
    await wave(3, 'ann', { batch_jid: jid, ping_jid: '20240229120000000013' })
    await wave(4, 'ann', { batch_jid: 'no jid' })
    await wave(5, 'ann', { batch_jid: jid })
    expect(cache.waves(jid)).toEqual(['20240229120000000011', '20240229120000000015'])
    now += 1
    expect(await cache.expire(new Date(now))).toBe(6)
    expect(cache.waves(jid)).toEqual([])
  })

  test('survives a restart', async () => {
    await openCache().saveLoad(jid, load, ['a'])
    await openCache().saveReturn(jid, 'a', { return: true })
    await Promise.all(open.splice(0).map((cache) => cache.close()))
    expect(openCache().load(jid)?.load).toEqual(load)
    expect(openCache().returns(jid).get('a')).toEqual({ return: true })
  })

  test('can get further minions later, each named once', async () => {
    const cache = openCache()
    await cache.addMinions(jid, ['c'])
    await cache.saveLoad(jid, load, ['a', 'b'])
    await cache.addMinions(jid, ['b', 'd'])
    expect(cache.load(jid)?.minions).toEqual(['c', 'a', 'b', 'd'])
  })

  test('that is a wave of a batch is not stored after the batch was stopped', async () => {
    const cache = openCache()
    await cache.batches.add(jid, { fun: 'test.ping', user: 'root' } as BatchOrder, ['a', 'b'])
    const [first, second] = ['20240229120000000002', '20240229120000000003']
    expect(await cache.create(first, load, ['a'], { batch: jid })).toBe(true)
    await openCache().batches.stop(jid, 'Batch run stopped on request.')
    expect(await cache.create(second, load, ['b'], { batch: jid })).toBe(false)
    expect(cache.record(second)).toBeUndefined()
  })

  test('with an invalid jid is refused with a sentence', async () => {
    await expect(openCache().saveLoad('../evil', load, [])).rejects.toThrow('"../evil" is not a job id')
  })
})

describe('reserve', () => {
  test('accepts a jid once', async () => {
    const cache = openCache()
    const results = await Promise.all([cache.reserve(jid), cache.reserve(jid), openCache().reserve(jid)])
    expect(results.filter(Boolean)).toEqual([true])
    expect(cache.load(jid)).toBeUndefined()
  })

  test('refuses the jid of a job and of a return', async () => {
    const cache = openCache()
    await cache.saveLoad(jid, load, [])
    await cache.saveReturn('20240229120000000002', 'a', { return: 1 })
    expect(await cache.reserve(jid)).toBe(false)
    expect(await cache.reserve('20240229120000000002')).toBe(false)
  })

  test('gives each jid to one of several processes only', SLOW, async () => {
    const runs = [1, 2, 3].map(() => execa(process.execPath, [child, directory, 'reserve', '100']))
    const counts = (await Promise.all(runs)).map(({ stdout }) => Number(stdout))
    expect(counts.reduce((sum, count) => sum + count)).toBe(100)
  })
})

describe('a return', () => {
  test('is stored once; the same one again is a duplicate, another one a conflict, and the first stays', async () => {
    const cache = openCache()
    const ret = { return: { a: 1, b: new Float(2) }, retcode: 0, success: true }
    const outcomes = []
    for (const each of [
      ret,
      ret,
      { ...ret, return: 'other' },
      { success: true, retcode: 0, return: ret.return },
    ]) {
      outcomes.push(await cache.saveReturn(jid, 'a', each))
    }
    expect(outcomes).toEqual(['stored', 'duplicate', 'conflict', 'duplicate'])
    expect([...cache.returns(jid)]).toEqual([['a', ret]])
  })

  test('sent five times at once by several connections is one row', async () => {
    const cache = openCache()
    const sent = Array.from({ length: 5 }, () => cache.saveReturn(jid, 'a', { return: true }))
    expect((await Promise.all(sent)).sort()).toEqual([
      'duplicate',
      'duplicate',
      'duplicate',
      'duplicate',
      'stored',
    ])
  })

  test('that is sent again with a new nonce and time is a duplicate, and its token is not stored', async () => {
    const cache = openCache()
    await cache.saveReturn(jid, 'a', { return: true, nonce: '1', ts: 1, tok: Buffer.from([0xff]) })
    expect(await cache.saveReturn(jid, 'a', { return: true, nonce: '2', ts: 2 })).toBe('duplicate')
    expect(cache.return(jid, 'a')).toEqual({ return: true })
  })

  test('for a job that was not published is stored', async () => {
    const cache = openCache()
    expect(await cache.saveReturn(jid, 'a', { return: null })).toBe('stored')
    expect(cache.returns(jid).size).toBe(1)
    expect(cache.load(jid)).toBeUndefined()
    expect([...cache.list()]).toEqual([])
  })

  test('for one job is not confused with one for another', async () => {
    const cache = openCache()
    await cache.saveReturn(jid, 'a', { return: 1 })
    await cache.saveReturn(`${jid}_7`, 'a', { return: 2 })
    expect([...cache.returns(jid).values()]).toEqual([{ return: 1 }])
  })

  test('that was acknowledged is there after kill -9', SLOW, async () => {
    const run = execa(process.execPath, [child, directory, 'returns'], { reject: false })
    let lines = 0
    run.stdout.on('data', (chunk: Buffer) => {
      lines += chunk.toString().split('\n').length - 1
      if (lines > 100) run.kill('SIGKILL')
    })
    const acknowledged = (await run).stdout.trim().split('\n')
    const stored = openCache().returns(jid)
    expect(acknowledged.filter((id) => !stored.has(id))).toEqual([])
  })
})

describe('list', () => {
  const jids = Array.from({ length: 300 }, (_, n) => `2024022912000000${String(n).padStart(4, '0')}`)

  test('gives the newest first, up to a limit, from a given job on', async () => {
    const cache = openCache()
    await Promise.all(jids.map((each) => cache.saveLoad(each, load, [])))
    const listed = (options?: { limit?: number; before?: string }) =>
      Array.from(cache.list(options), (job) => job.jid)
    expect(listed()).toEqual(jids.toReversed())
    expect(listed({ limit: 2 })).toEqual([jids[299], jids[298]])
    expect(listed({ limit: 2, before: String(jids[100]) })).toEqual([jids[99], jids[98]])
  })
})

describe('expire', () => {
  test('removes older jobs with their returns, and nothing else', async () => {
    const cache = openCache()
    const day = 86_400_000
    const old = Array.from({ length: 120 }, (_, n) => `2024022912000000${String(n).padStart(4, '0')}`)
    await Promise.all(old.map((each) => cache.saveLoad(each, load, ['a'])))
    await Promise.all(old.map((each) => cache.saveReturn(each, 'a', { return: 1 })))
    now += day
    await cache.saveLoad('20000101000000000000', load, ['a']) // proposed by a client, and young nevertheless
    expect(await cache.expire(new Date(now - day / 2))).toBe(120)
    expect(Array.from(cache.list(), (job) => job.jid)).toEqual(['20000101000000000000'])
    expect(cache.returns(String(old[0])).size).toBe(0)
    expect(await cache.reserve(String(old[0]))).toBe(true)
  })

  test('removes jids that were only reserved, and returns without a job', async () => {
    const cache = openCache()
    await cache.reserve(jid)
    await cache.saveReturn(`${jid}_1`, 'a', { return: 1 })
    now += 1000
    expect(await cache.expire(new Date(now))).toBe(2)
    expect(cache.returns(`${jid}_1`).size).toBe(0)
  })
})

const recorded = vectors('job-cache')

describe('jobs recorded from a Python master', () => {
  interface Recorded {
    readonly jid: string
    readonly files_b64: Record<string, string>
  }

  test.each<Recorded>(recorded.jobs)('job $jid is returned with all its values', async (job) => {
    const cache = openCache()
    const file = (name: string) => {
      const content = job.files_b64[name]
      return content === undefined ? undefined : decode(bytes(content))
    }
    const saved = file('.load.p') as Record<string, unknown> | undefined
    const minions = (file('.minions.p') ?? []) as string[]
    if (saved) await cache.saveLoad(job.jid, saved, minions)
    const ids = Object.keys(job.files_b64).flatMap((name) => name.match(/^(.+)\/return\.p$/)?.[1] ?? [])
    for (const id of ids) {
      const ret = file(`${id}/return.p`) as object
      expect(await cache.saveReturn(job.jid, id, ret)).toBe('stored')
      expect(cache.return(job.jid, id)).toEqual(ret)
      expect(await cache.saveReturn(job.jid, id, ret)).toBe('duplicate')
    }
    expect(cache.load(job.jid)).toEqual(saved && { load: saved, minions })
  })
})

describe('returns that were stored but not announced', () => {
  const minute = 60_000

  test('are given out after a while, each to one process at a time', async () => {
    const cache = openCache()
    await cache.saveReturn(jid, 'a', { return: 1 })
    expect(await cache.unannounced.take(now)).toBeUndefined()
    now += minute
    const takers = [cache, openCache(), cache].map((each) => each.unannounced.take(now - 1000))
    expect((await Promise.all(takers)).filter(Boolean)).toEqual([{ jid, id: 'a', ret: { return: 1 } }])
    now += minute
    expect(await cache.unannounced.take(now - 1000)).toMatchObject({ id: 'a' })
  })

  test('are removed when they were announced, come again, or their job expires', async () => {
    const cache = openCache()
    for (const id of ['a', 'b']) await cache.saveReturn(jid, id, { return: 1 })
    await cache.unannounced.remove(jid, 'a')
    expect(await cache.saveReturn(jid, 'a', { return: 1 })).toBe('duplicate')
    now += minute
    expect(await cache.unannounced.take(now)).toMatchObject({ id: 'b' })
    await cache.expire(new Date(now + 1))
    expect(await cache.unannounced.take(now + minute)).toBeUndefined()
  })
})
