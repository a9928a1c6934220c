/**
 * Catalogues of functions, and records on disk: what is stored is read back as it was, returns above all, and a record of another
 * shape, or a damaged file, is left out and fails nothing.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { type Fields, isRecord } from '../../../core/base/record.ts'
import { Catalogues } from '../../../core/cache/catalogues.ts'
import { MinionStarts } from '../../../core/cache/minion-starts.ts'
import { decode, decodeLazily, encodeLocal, encodeNetwork, type Value } from '../../../core/codec/index.ts'
import { jsonText } from '../../../core/dialect/json.ts'
import { fromRecordJson, recordJson } from '../../../core/dialect/record-json.ts'
import { JobCache } from '../../../core/jobs/job-cache.ts'
import { ReturnSpool } from '../../../core/jobs/return-spool.ts'
import { predictCall, suggestName } from '../../../core/loader/calls/check-call.ts'
import { readCatalogue } from '../../../core/loader/describe/read-catalogue.ts'
import { openStore, type Store, type StoreKey } from '../../../core/store/index.ts'
import { withoutChecksum } from '../../../core/store/record.ts'
import { StoreFile } from '../../../core/store/salvage/tree.ts'
import { readApiRefusal } from '../../../core/wire/api-refusal.ts'
import { catalogueHash, readCallCheckReport, readCatalogueReport } from '../../../core/wire/catalogue.ts'
import { jobStatusOf } from '../../../core/wire/job-status.ts'
import { readStartAnswer, readStartReport } from '../../../core/wire/minion-start.ts'
import { readMissedJob, readMissedJobsReply, readMissedJobsRequest } from '../../../core/wire/missed-jobs.ts'
import { readPeerPublish, readPeerRun } from '../../../core/wire/peer-request.ts'
import { readJobLoad } from '../../../core/wire/publication.ts'
import { forwardedOptionsOf, readPublish, shownOptions } from '../../../core/wire/publish-request.ts'
import { readVia } from '../../../core/wire/via.ts'
import { memoryFolder } from '../memory-folder.ts'
import { must, outcomeOf, type Target } from '../target.ts'

const JID = '20261120120000123456'
const ID = 'wire1'

const job = {
  jid: JID,
  fun: 'test.arg',
  arg: ['a', { __kwarg__: true, b: 1 }],
  tgt: '*',
  tgt_type: 'glob',
  ret: '',
  user: 'root',
}
const ret = {
  cmd: '_return',
  jid: JID,
  id: ID,
  fun: 'test.arg',
  return: { a: [1, 2.5] },
  retcode: 0,
  success: true,
  nonce: 'x',
}
const returning = { ...job, ret: 'http,postgres', ret_config: 'other', ret_kwargs: { table: 'x', port: 1 } }
const words = { args: ['1.10', null], kwargs: { b: 'yes' } }
const publish = { cmd: 'publish', ...job, key: 'k', kwargs: { metadata: { a: 1 }, ret_kwargs: {} }, words }
const start = { token: '0'.repeat(16), address: '::1', host: 'h', pid: 7 }
const catalogue = {
  functions: {
    'test.arg': {
      args: { kind: 'rest', schema: {} },
      others: { kind: 'keywords', schema: { type: 'number' } },
    },
    'test.sleep': {
      length: { kind: 'value', schema: { type: 'integer', minimum: 0 } },
      text: {
        kind: 'value',
        schema: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
        optional: true,
      },
    },
    'test.any': null,
  },
  missing: { nosuch: "'nosuch.*' is not available." },
}

export default async (): Promise<Target> => {
  const home = mkdtempSync(join(memoryFolder(), 'salt-fuzz-records-'))
  const folder = (name: string): string => {
    mkdirSync(join(home, name))
    return join(home, name)
  }
  const unsynced = {
    synced: false,
    onDamage: (error: Error) => must(/\S/.test(error.message), 'Damage without a sentence'),
  }
  const [spools, caches] = [folder('spool'), folder('jobs')]
  const spool = ReturnSpool.open(spools, unsynced)
  const jobs = JobCache.open(caches, { ...unsynced, sinks: ['http'], endTimes: true })
  const catalogues = Catalogues.open(folder('catalogues'), unsynced)
  const startsFolder = folder('starts')
  const starts = MinionStarts.open(startsFolder, unsynced)
  const stores = [ReturnSpool.path(spools), JobCache.path(caches), MinionStarts.path(startsFolder)].map(
    (path) => openStore(path, unsynced),
  )
  const [spoolStore, jobStore, startStore] = stores as [Store, Store, Store]
  const healthy = await sampleFile(home)

  /** A return, and the job that it is of, must come out of the spool as they went in. */
  async function spooled(value: Value): Promise<string> {
    if (!isRecord(value) || !isRecord(value.ret) || !isRecord(value.job)) return 'no return'
    if (!hasRoom(value)) return 'nested too deeply'
    const entry = await spool.add({ jid: JID, ret: value.ret, job: value.job, master: '::1' })
    must(isSame(entry.ret, value.ret) && isSame(entry.job, value.job), 'A return in the spool is another one')
    must(isSame(spool.find(JID), value.ret), 'A return is not found in the spool')
    const targets = spool.outbox?.targets() ?? []
    await spool.done(entry)
    await clear(spoolStore)
    must(spool.size === 0, 'A return that is done is still in the spool')
    return targets.length > 0 ? 'spooled, with returners' : 'spooled'
  }

  async function accepted(value: Value): Promise<string> {
    const received = isRecord(value) ? readJobLoad(value) : undefined
    if (!received || !spool.seen || !hasRoom(value)) return 'no job'
    const publication = { keyDigest: 'x', serial: Number(value === null) + 1, jid: JID, now: 1 }
    must(
      await spool.seen.accept(publication, { job: { ...received, jid: JID }, master: '::1', begun: false }),
      'A job is refused',
    )
    must(
      isSame(spool.seen.unsettled()[0]?.job, { ...received, jid: JID }),
      'A job that was accepted is another one',
    )
    await spool.seen.begin(JID)
    await spool.seen.settle(JID)
    must(spool.seen.unsettled().length === 0, 'A job that is settled is still there')
    await clear(spoolStore)
    return 'accepted'
  }

  /** A job and its return must come out of the job cache as they went in, and the same return again is no conflict. */
  async function cached(value: Value): Promise<string> {
    if (!isRecord(value) || !isRecord(value.ret) || !isRecord(value.job)) return 'no return'
    if (!hasRoom(value)) return 'nested too deeply'
    await jobs.create(JID, value.job, [ID], { unknown: ['other'] })
    must(isSame(jobs.load(JID)?.load, value.job), 'A job in the cache is another one')
    const outcomes = [await jobs.saveReturn(JID, ID, value.ret), await jobs.saveReturn(JID, ID, value.ret)]
    must(outcomes.join() === 'stored,duplicate', `The same return twice is ${outcomes}`)
    const { cmd: _, nonce: __, ...kept } = value.ret
    must(
      isSame(withoutTransport(jobs.return(JID, ID)), withoutTransport(kept)),
      'A return in the cache is another one',
    )
    const found = [...jobs.list({ functions: ['test.*'], users: ['root'] })].length
    must([...jobs.list()].length === 1, 'A job is not listed')
    await clear(jobStore)
    return found > 0 ? 'cached and found' : 'cached'
  }

  /** Records that this version would not have written, under each key in turn. */
  async function foreignReturn(value: Value): Promise<string> {
    for (const key of [
      ['ret', JID, 0],
      ['value', JID, 0],
      ['job', JID],
      ['serial', 'x'],
      ['out', 'http', 1],
      ['dead', 'http', 1],
    ])
      await spoolStore.put(key as StoreKey, value)
    const read = spool.pending().map((entry) => [spool.read(entry), { ...entry }])
    const { length } = spool.seen?.unsettled() ?? []
    await spool.seen?.begin(JID)
    spool.outbox?.counts('http')
    const batch = await spool.outbox?.next('http')
    if (spool.outbox) [...spool.outbox.dead('http')].length
    for (const entry of spool.pending()) await spool.replace(entry, (fields) => ({ ...fields }))
    await clear(spoolStore)
    return `read ${read.length}, ${length} jobs${batch ? ', a batch' : ''}`
  }

  async function foreignJob(value: Value): Promise<string> {
    for (const key of [
      ['job', JID],
      ['ret', JID, ID],
      ['end', JID],
      ['age', 1, JID],
      ['batch', JID],
      ['member', JID, ID],
      ['unannounced', JID, ID],
    ])
      await jobStore.put(key as StoreKey, value)
    await startStore.put(['start', ID], value)
    const found = jobs.load(JID)
    jobs.record(JID)
    jobs.returns(JID)
    jobs.batches.load(JID)
    for (const query of [{}, { functions: ['test.*'] }, { metadata: { a: 1 } }]) [...jobs.list(query)].length
    await jobs.unannounced.take(Date.now())
    await jobs.expire(new Date())
    starts.of(ID)
    await clear(jobStore)
    return found ? 'read as a job' : 'read'
  }

  async function catalogued(value: Value): Promise<string> {
    const text = jsonText(value)
    const report = readCatalogueReport({ hash: catalogueHash(text), catalogue: text })
    const read = readCatalogue(text)
    if (!report || !read) return 'refused'
    must(await catalogues.save(ID, report), 'A catalogue is not stored')
    must(catalogues.text(catalogues.hash(ID) ?? '') === text, 'A catalogue in the store is another one')
    await catalogues.remove(ID)
    for (const fun of [
      'test.arg',
      'test.sleep',
      'test.any',
      'nosuch.fun',
      'constructor',
      '__proto__',
      'toString',
    ]) {
      const call = { fun, arg: ['a', 'length=3', { __kwarg__: true, text: 'x' }] }
      const predicted = predictCall(call, read)
      must(!('refusal' in predicted) || /\S/.test(predicted.refusal), 'A call is refused without a reason')
      suggestName(call, read)
    }
    return 'catalogue'
  }

  const ways: readonly ((value: Value) => string | Promise<string>)[] = [
    catalogued,
    messages,
    spooled,
    accepted,
    cached,
    foreignReturn,
    foreignJob,
    json,
  ]

  async function run(input: Buffer): Promise<string> {
    const way = (input[0] ?? 0) % (ways.length + 2)
    const rest = input.subarray(1)
    if (way === ways.length) return `record ${record(rest)}`
    if (way > ways.length) return `file ${salvaged(home, healthy, rest)}`
    let value: Value
    try {
      value = decode(rest)
    } catch {
      return 'no message'
    }
    return `${ways[way]?.name} ${await ways[way]?.(value)}`
  }

  return {
    form: 'message',
    choices: [ways.length + 2],
    seeds,
    run,
    close: async () => {
      await Promise.all([spool, jobs, catalogues, starts, ...stores].map((each) => each.close()))
      rmSync(home, { recursive: true, force: true })
    },
  }
}

const seed = (way: number, value: unknown): Buffer =>
  Buffer.concat([Buffer.from([way]), encodeNetwork(value)])

const seeds = [
  ...[catalogue, { ...catalogue, python: true }].map((value) => seed(0, value)),
  ...[
    publish,
    { ...ret, start, via: { address: '::1' } },
    { after: [1, JID], hash: 'a'.repeat(64), refusals: ['x'] },
  ].map((value) => seed(1, value)),
  ...[2, 4].flatMap((way) =>
    [
      { ret, job },
      { ret, job: returning },
    ].map((value) => seed(way, value)),
  ),
  seed(3, { ...job, words }),
  ...[
    { ret, master: '::1', job: returning },
    { ret, isLarge: true },
    { job, master: 'x', begun: false },
    { serial: 1, at: 1 },
  ].map((value) => seed(5, value)),
  seed(5, { since: 1, parcel: { kind: 'return', ret } }),
  ...[
    { load: job, minions: [ID], unknown: ['x'] },
    { order: publish, fun: 'x' },
    { state: 'queued', wave: JID },
    1763640000000,
    [start],
  ].map((value) => seed(6, value)),
  ...[ret, { __bytes__: 'x' }, { __map__: [['a', 1]] }, { text: 'a\0b', big: 2n ** 60n }].map((value) =>
    seed(7, value),
  ),
  seed(8, ret),
  Buffer.from([9, 0, 0, 16, 4, 1, 2, 3, 4]),
  Buffer.from([9, 0, 16, 24, 2, 0xff, 0xff]),
]

/** The readers of messages never throw, and what they read can be shown. */
function messages(value: Value): string {
  const load = isRecord(value) ? value : {}
  const reads = [
    readPublish,
    readPeerPublish,
    readPeerRun,
    readStartReport,
    readMissedJobsRequest,
    readCallCheckReport,
    readApiRefusal,
    readJobLoad,
  ]
  const read = reads.filter((each) => each(load) !== undefined).map(({ name }) => name)
  const request = readPublish(load)
  if (request) encodeNetwork([shownOptions(request), forwardedOptionsOf(request.kwargs)])
  for (const each of [readMissedJob, readMissedJobsReply, readStartAnswer, readVia]) each(value)
  jobStatusOf(load)
  return read.join(' ')
}

/** A value that was read from the JSON of external stores survives it; the first time dates become text, and keys may change places. */
function json(value: Value): string {
  const read = fromRecordJson(recordJson(value))
  const again = fromRecordJson(recordJson(read))
  must(isSame(again, read), 'A value does not survive the JSON of external stores')
  return isRecord(value) ? 'map' : typeof value
}

/** A record with the right checksum and any content. */
function record(content: Buffer): string {
  const checksum = Buffer.alloc(4)
  checksum.writeUInt32LE(crc32(content))
  const whole = Buffer.concat([checksum, content])
  must(
    content.length < 5 || withoutChecksum(content, decode) === undefined,
    'A record without its checksum is read',
  )
  return outcomeOf(() => {
    for (const read of [decode, decodeLazily]) Object.keys(withoutChecksum(whole, read)?.value ?? {})
    return 'read'
  }, ['DECODE_FAILED'])
}

/** Bytes of a store's file replaced: two of a position, one of a length, then the bytes. All that is intact is found. */
function salvaged(home: string, healthy: Buffer, changes: Buffer): string {
  const damaged = Buffer.from(healthy)
  for (let at = 0; at + 3 < changes.length; ) {
    const size = Math.min(changes[at + 2] ?? 0, 32, changes.length - at - 3)
    damaged.set(
      changes.subarray(at + 3, at + 3 + size),
      (changes.readUInt16BE(at) * 8) % (damaged.length - 32),
    )
    at += 3 + Math.max(1, size)
  }
  const path = join(home, 'damaged')
  writeFileSync(path, damaged)
  const file = new StoreFile(path)
  try {
    const damage = [file.headDamage(), file.lengthDamage(), file.firstDamage(), file.entries]
    let found = 0
    for (const { value } of file.records()) found += withoutChecksum(value, decode) ? 1 : 0
    must(found <= 2 * SAMPLES, 'More records were found than there are')
    return `${damage.map((one) => one !== undefined)} ${found > 0 ? 'records' : 'nothing'}`
  } finally {
    file.close()
  }
}

/** The file of a store with a few hundred records, some of them large. */
async function sampleFile(home: string): Promise<Buffer> {
  const path = join(home, 'sample.mdb')
  const store = openStore(path)
  await store.change((records) => {
    for (let n = 0; n < SAMPLES; n++)
      records.put(['row', n], { n, text: 'x'.repeat(n % 50 === 0 ? 6000 : n % 90) })
  })
  for (let n = 0; n < 50; n++) await store.remove(['row', n * 3])
  await store.close()
  return readFileSync(path)
}

const SAMPLES = 300

/** Whether the value is not nested more deeply than a record of the outbox, which has it inside, can be. */
function hasRoom(value: Value): boolean {
  return outcomeOf(() => void encodeLocal([[[value]]]), ['ENCODE_FAILED']) === 'fine'
}

const transport = new Set(['cmd', 'nonce', 'ts', 'tok', 'sig', 'enc', 'load', 'version', 'id', 'jid'])

const withoutTransport = (fields: Fields | undefined): Fields =>
  Object.fromEntries(Object.entries(fields ?? {}).filter(([name]) => !transport.has(name)))

const isSame = (one: unknown, other: unknown): boolean =>
  encodeLocal(one).equals(encodeLocal(decode(encodeLocal(other))))

async function clear(store: Store): Promise<void> {
  await store.change((records) => {
    for (const key of [...records.keys({ from: [], to: ['\u{10fffe}'] })]) records.remove(key)
  })
}
