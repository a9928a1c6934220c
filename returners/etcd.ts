/**
 * Keeps jobs and returns in etcd (v3 API), under the keys of Salt's returner: `<root>/jobs/<jid>/.load.p` and
 * `<root>/jobs/<jid>/<minion>/<field>` for each field of a return, both JSON, and `<root>/minions/<minion>`, the last jid.
 */
import {
  fromRecordJson,
  type LoadRecord,
  p,
  type Returner,
  type ReturnRecord,
  recordJson,
  returner,
} from 'salt-ts'
import { type Connection, connectEtcd, connectionOptions } from './_etcd-connection.ts'
import { firstJobs, jobOf, loadWithMinions, pages } from './_jobs.ts'

const options = {
  ...connectionOptions,
  returner_root: p.default(p.string({ minLength: 1 }), '/salt/return'),
  /** Seconds after which etcd deletes what was written; if not given, it is kept. */
  ttl: p.optional(p.integer({ minimum: 1 })),
  /** Write values as MessagePack of the text, as Salt does with the v3 API. Both forms are read. */
  encode_values: p.default(p.boolean(), true),
} as const

/** A key with its value; undefined to delete the key. */
type Write = readonly [key: string, text: string | undefined]

/** Operations in one transaction. etcd allows 128. */
const OPERATIONS = 120

export default returner({
  options,
  create: async ({ options }) => {
    const { returner_root: root, ttl, encode_values } = options
    const connection = await connectEtcd(options)
    const write = (writes: readonly Write[]) => writeAll(connection, writes, ttl, encode_values)
    return {
      ...writing(write, root),
      ...reading(connection, root),
      remove: async (jid) => {
        await connection.ask('kv/deleterange', below(`${root}/jobs/${jid}/`))
      },
      close: connection.close,
    }
  },
})

async function writeAll(
  { ask }: Connection,
  writes: readonly Write[],
  ttl: number | undefined,
  encode: boolean,
) {
  const lease = ttl === undefined ? undefined : (await ask('lease/grant', { TTL: ttl })).ID
  for (const some of pages(writes, OPERATIONS))
    await ask('kv/txn', {
      success: some.map(([key, text]) =>
        text === undefined
          ? { requestDeleteRange: { key: base64(key) } }
          : { requestPut: { key: base64(key), value: base64(encode ? packed(text) : text), lease } },
      ),
    })
}

function writing(write: (writes: readonly Write[]) => Promise<void>, root: string) {
  const saveBatch = (rets: readonly ReturnRecord[]) => {
    const last = new Map(rets.map(({ id, jid }) => [id, jid]))
    return write([
      ...rets.flatMap((ret) => writesOf(ret, `${root}/jobs/${ret.jid}/${ret.id}`)),
      ...[...last].map(([id, jid]): Write => [`${root}/minions/${id}`, jid]),
    ])
  }
  return {
    save: (ret) => saveBatch([ret]),
    saveBatch,
    saveLoad: (job) => write([[`${root}/jobs/${job.jid}/.load.p`, recordJson(loadWithMinions(job))]]),
  } satisfies Returner
}

/** Return the writes of a return. They delete the `state` of an earlier record that only said why there was no return. */
const writesOf = (ret: ReturnRecord, key: string): Write[] =>
  Object.entries({ state: undefined, ...ret }).map(([field, value]) => [
    `${key}/${field}`,
    value === undefined ? undefined : recordJson(value),
  ])

function reading({ ask }: Connection, root: string) {
  /** Yield the keys below a prefix, without the prefix, and their texts. */
  async function* entries(prefix: string, keysOnly = false): AsyncGenerator<readonly [string, string]> {
    const { key, range_end } = below(prefix)
    for (let from = key; ; ) {
      const request = { key: from, range_end, limit: 1000, keys_only: keysOnly }
      const { kvs = [], more } = (await ask('kv/range', request)) as Range
      for (const { key: found, value = '' } of kvs)
        yield [Buffer.from(found, 'base64').toString().slice(prefix.length), unpacked(value)]
      const last = kvs.at(-1)
      if (!more || !last) return
      from = Buffer.concat([Buffer.from(last.key, 'base64'), Buffer.of(0)]).toString('base64')
    }
  }
  const getJid = async (jid: string, only = '') => {
    const found = new Map<string, Record<string, unknown>>()
    for await (const [key, text] of entries(`${root}/jobs/${jid}/${only}`)) {
      const path = `${only}${key}`
      const cut = path.lastIndexOf('/')
      if (cut < 0) continue
      const [id, field] = [path.slice(0, cut), path.slice(cut + 1)]
      found.set(id, { ...found.get(id), [field]: fromRecordJson(text) })
    }
    return [...found.values()] as unknown as ReturnRecord[]
  }
  const getLoad = async (jid: string) => {
    const { kvs = [] } = (await ask('kv/range', { key: base64(`${root}/jobs/${jid}/.load.p`) })) as Range
    const text = kvs[0]?.value
    return text === undefined ? undefined : jobOf(jid, fromRecordJson(unpacked(text)) as LoadRecord['load'])
  }
  async function* getJids(): AsyncGenerator<LoadRecord> {
    const jids: string[] = []
    for await (const [key] of entries(`${root}/jobs/`, true))
      if (key.endsWith('/.load.p')) jids.push(key.slice(0, -'/.load.p'.length))
    for (const page of pages(jids.sort().reverse(), 50))
      for (const job of await Promise.all(page.map(getLoad))) if (job) yield job
  }
  const minions = async () => {
    const found: (readonly [id: string, jid: string])[] = []
    for await (const entry of entries(`${root}/minions/`)) found.push(entry)
    return found
  }
  return {
    getLoad,
    getJid: (jid) => getJid(jid),
    /** Return the results of minions whose last job ran the function. */
    getFun: async (fun) => {
      const found: ReturnRecord[] = []
      for (const page of pages(await minions(), 50))
        found.push(...(await Promise.all(page.map(([id, jid]) => getJid(jid, `${id}/`)))).flat())
      return found.filter((ret) => String(ret.fun) === fun)
    },
    getJids,
    getJidsFilter: (count, filterFindJob) => firstJobs(getJids(), count, filterFindJob),
    getMinions: async () => (await minions()).map(([id]) => id),
  } satisfies Partial<Returner>
}

interface Range {
  readonly kvs?: readonly { readonly key: string; readonly value?: string }[]
  readonly more?: boolean
}

const base64 = (value: string | Buffer) => Buffer.from(value as string).toString('base64')

/** Return the range of all keys that begin with a prefix that ends with `/`; `0` follows `/`. */
const below = (prefix: string) => ({ key: base64(prefix), range_end: base64(`${prefix.slice(0, -1)}0`) })

/** Encode text as MessagePack. */
function packed(text: string): Buffer {
  const bytes = Buffer.from(text)
  const head = Buffer.alloc(5, 0xdb)
  head.writeUInt32BE(bytes.length, 1)
  return Buffer.concat([head, bytes])
}

/** Decode a value in base64, which is MessagePack or plain text; the plain texts, JSON and job ids, begin with ASCII. */
function unpacked(value: string): string {
  const bytes = Buffer.from(value, 'base64')
  const [first = 0] = bytes
  if (first < 0x80) return bytes.toString()
  const head = { 217: 2, 218: 3, 219: 5 }[first] ?? 1
  return bytes.subarray(head).toString()
}
