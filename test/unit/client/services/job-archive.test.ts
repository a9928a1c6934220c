import { copyFile, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createJobArchive } from '../../../../core/client/services/job-archive.ts'
import { Float } from '../../../../core/codec/index.ts'
import { JobCache } from '../../../../core/jobs/job-cache.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'

const jidOf = (n: number) => `202402291200${String(n).padStart(8, '0')}`
const rich = {
  float: new Float(3),
  big: 2n ** 63n,
  bytes: Buffer.from([0xff, 0]),
  list: [null, true, 'ż\0', -1.5],
}
const load = { fun: 'test.ping', tgt: '*', arg: [rich], user: 'root' }

let directory: string
const open: JobCache[] = []
function openCache(name: string): JobCache {
  const cache = JobCache.open(join(directory, name))
  open.push(cache)
  return cache
}

beforeEach(async () => {
  directory = await temporaryFolder('salt-archive-')
})
afterEach(async () => {
  await Promise.all(open.splice(0).map((cache) => cache.close()))
  await removeFolder(directory)
})

async function filled(): Promise<JobCache> {
  const cache = openCache('source')
  for (let n = 0; n < 3; n++) {
    await cache.create(jidOf(n), { ...load, fun: n ? 'test.ping' : 'cmd.run' }, ['a', 'b'], {
      unknown: ['b'],
    })
    await cache.saveReturn(jidOf(n), 'a', { return: rich, retcode: 0, success: true })
  }
  return cache
}

/** All that can be read of these jobs. */
const content = (cache: JobCache) =>
  Array.from(cache.list(), ({ jid }) => [jid, cache.load(jid), ...cache.returns(jid)])

const never = async (line: number, why: string) => {
  throw new Error(`${line}: ${why}`)
}

test.each(['jobs.jsonl', 'jobs.jsonl.gz'])(
  'jobs that are exported to %s are imported without loss, and importing again changes nothing',
  async (name) => {
    const source = await filled()
    const file = join(directory, name)
    const done = await createJobArchive(async () => source).export(file)
    expect(done).toEqual({ file, jobs: 3, returns: 3 })
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    const bytes = await readFile(file)
    const text = (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString()
    expect(
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).kind),
    ).toHaveLength(6)

    const target = openCache('target')
    const archive = createJobArchive(async () => target)
    expect(await archive.import(file, never)).toEqual({ file, jobs: 3, returns: 3, known: 0, refused: 0 })
    expect(content(target)).toEqual(content(source))
    expect(await archive.import(file, never)).toEqual({ file, jobs: 0, returns: 0, known: 6, refused: 0 })
    expect(content(target)).toEqual(content(source))
    expect(await target.unannounced.take(Date.now() + 60_000)).toBeUndefined()
    expect(target.settled.open(Date.now() + 60_000)).toEqual([])
  },
)

test('only the selected jobs are exported; of a batch all its jobs', async () => {
  const source = await filled()
  const [batch, wave] = [jidOf(10), jidOf(11)]
  for (const jid of [batch, wave])
    await source.create(jid, { ...load, fun: 'pkg.upgrade', metadata: { batch_jid: batch } }, ['a'])
  const archive = createJobArchive(async () => source)
  const exported = async (which: Parameters<typeof archive.export>[1]) => {
    const file = join(directory, 'some.jsonl')
    await archive.export(file, which)
    const rows = (await readFile(file, 'utf8')).trim().split('\n').filter(Boolean)
    return rows
      .map((row) => JSON.parse(row))
      .filter(({ kind }) => kind === 'job')
      .map(({ jid }) => jid)
  }
  expect(await exported({ functions: ['cmd.*'] })).toEqual([jidOf(0)])
  expect(await exported({ after: jidOf(1), before: jidOf(10) })).toEqual([jidOf(2)])
  expect(await exported({ jids: [batch, jidOf(1), jidOf(99)] })).toEqual([batch, wave, jidOf(1)])
  expect(await exported({ functions: ['no.such'] })).toEqual([])
})

test('invalid lines are named with their reasons, and the others are imported; an existing return stays', async () => {
  const target = openCache('target')
  await target.saveReturn(jidOf(1), 'a', { return: 'first' })
  const job = { kind: 'job', jid: jidOf(1), load: { fun: 'test.ping' }, minions: ['a'] }
  const ret = { kind: 'return', jid: jidOf(1), id: 'a', ret: { return: 'second' } }
  const lines = [
    ...['{', '[]', { ...job, jid: '../x' }, job, ret, { ...job, load: 1 }, { ...job, minions: ['../x'] }, ''],
    ...[
      { ...ret, id: '/' },
      { ...ret, ret: null },
      { ...ret, kind: 'x' },
      { ...ret, id: 'b' },
    ],
  ]
  const file = join(directory, 'mixed.jsonl')
  await writeFile(
    file,
    lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'),
  )
  const refused: string[] = []
  const done = await createJobArchive(async () => target).import(file, async (line, why) => {
    refused.push(`${line} ${why}`)
  })
  expect(refused).toEqual([
    '1 it is not JSON',
    '2 it is not a map',
    '3 its jid is not a job id',
    '6 its load is not a map',
    '7 its minions are not a list of minion ids',
    '9 its id is not a minion id',
    '10 its ret is not a map',
    '11 its kind is neither job nor return',
  ])
  expect(done).toMatchObject({ jobs: 1, returns: 1, known: 1, refused: 8 })
  expect(target.return(jidOf(1), 'a')).toEqual({ return: 'first' })
  expect(target.load(jidOf(1))).toMatchObject({ load: { fun: 'test.ping' }, minions: ['a'] })
})

test('files that cannot be read or written are errors, and no partial file is left', async () => {
  const cache = await filled()
  const archive = createJobArchive(async () => cache)
  const in_ = (name: string) => join(directory, name)
  await expect(archive.import(in_('none.jsonl'), never)).rejects.toThrow('none.jsonl cannot be read: ')
  await expect(archive.export(in_('no/jobs.jsonl'))).rejects.toThrow('no/jobs.jsonl cannot be written: ')
  await expect(archive.backup(in_('no/jobs.mdb'))).rejects.toThrow('no/jobs.mdb cannot be written: ')
  await archive.export(in_('cut.jsonl.gz'))
  const whole = gzipSync(gunzipSync(await readFile(in_('cut.jsonl.gz'))))
  await writeFile(in_('cut.jsonl.gz'), whole.subarray(0, whole.length - 12))
  await expect(archive.import(in_('cut.jsonl.gz'), never)).rejects.toThrow(
    /cut\.jsonl\.gz cannot be read: .*unexpected end of file/,
  )
  expect((await readdir(directory)).sort()).toEqual(['cut.jsonl.gz', 'source'])
})

test('a backup made while returns come in has all acknowledged ones, and can replace the store', async () => {
  const cache = openCache('source')
  await cache.create(jidOf(1), load, [])
  let sent = 0
  let going = true
  const acknowledged: string[] = []
  const send = async () => {
    while (going) {
      const id = `m${sent++}`
      await cache.saveReturn(jidOf(1), id, { return: 'x'.repeat(500) })
      acknowledged.push(id)
    }
  }
  const senders = Array.from({ length: 20 }, send)
  while (acknowledged.length < 300) await new Promise(setImmediate)
  const before = [...acknowledged]
  const file = join(directory, 'backup.mdb')
  const { bytes } = await createJobArchive(async () => cache).backup(file)
  going = false
  await Promise.all(senders)
  expect(await stat(file)).toMatchObject({ size: bytes })
  expect((await stat(file)).mode & 0o777).toBe(0o600)

  await mkdir(join(directory, 'restored'))
  await copyFile(file, JobCache.path(join(directory, 'restored')))
  const restored = openCache('restored')
  const there = restored.returns(jidOf(1))
  expect(before.filter((id) => !there.has(id))).toEqual([])
  expect(await restored.saveReturn(jidOf(1), 'new', { return: 1 })).toBe('stored')
})
