import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { EventRecord, LoadRecord, Returner, ReturnRecord } from '../../core/author/returner.ts'
import { openLoader } from '../../core/loader/index.ts'
import { openConfiguredReturner } from '../../core/outbox/open-returner.ts'
import { quietLog } from '../harness/log.ts'
import { type Need, needs } from '../harness/needs.ts'
import { SLOW } from '../harness/slow.ts'

/** A store of its own for one run of the suite. */
interface PreparedStore {
  /** The configuration with which the returner finds it. */
  readonly config: Readonly<Record<string, unknown>>
  /** What was saved, read without the returner by the store's own client; as many as there are rows of this (jid, id). */
  rows?(jid: string, id: string): Promise<readonly unknown[]>
  /** The same of events with this tag. */
  events?(tag: string): Promise<readonly unknown[]>
  /** Give a value of a cluster another revision, past the returner. */
  setRevision?(cluster: string, key: string, revision: string): Promise<unknown>
  /** Revisions that the store can hold and that do not count. */
  readonly damagedRevisions?: readonly string[]
  /** Put a value into a cluster, past the returner, in the name of somebody else. */
  putJunk?(cluster: string, bytes: number): Promise<unknown>
  /** Whether that may be as long as one likes. */
  readonly canBeLong?: boolean
  /** Damage each place where the store keeps values of a cluster, one after the other. */
  readonly damages?: readonly ((cluster: string) => Promise<unknown>)[]
  drop(): Promise<void>
}

export interface StoreUnderTest {
  /** Of the returner. */
  readonly name: string
  /** What the store needs of this machine. */
  readonly needs?: Need
  prepare(): Promise<PreparedStore>
  /** Configuration with a wrong password, of a store that asks for one. */
  readonly wrongCredentials?: (config: PreparedStore['config']) => PreparedStore['config']
  /** Values the store does not give back as they were, by the name of the kind below, with the reason. */
  readonly lossy?: Readonly<Record<string, string>>
}

const deep = (depth: number): unknown => (depth === 0 ? 'bottom' : { inner: deep(depth - 1) })

/** Thirty kinds of returns. */
const KINDS: Readonly<Record<string, unknown>> = {
  true: true,
  false: false,
  null: null,
  zero: 0,
  'a small integer': -42,
  'a fraction': 3.25,
  'the greatest safe integer': Number.MAX_SAFE_INTEGER,
  'a 64-bit integer': 9_223_372_036_854_775_807n,
  'an unsigned 64-bit integer': 18_446_744_073_709_551_615n,
  'empty text': '',
  text: 'hello world',
  'text of several lines': 'one\ntwo\r\n\tthree\n',
  unicode: 'Grüße, 世界, 🦊, \u{10FFFF}',
  'text with NUL': 'a\0b',
  'control characters': '\u0001\u001b[31m\u007f',
  'text of a quote and a backslash': `'"\\\`$\{x}%s`,
  'SQL in a text': "'; DROP TABLE salt_returns; --",
  'a command in a text': '$(touch /tmp/pwned); `id`\r\nDEL key\r\n',
  'text like JSON': '{"a": [1, 2]}',
  'bytes that are no text': new Uint8Array([0, 255, 254, 128, 10]),
  'an empty list': [],
  'an empty map': {},
  'a list of all sorts': [1, 'two', null, [3.5], { four: true }],
  'a map of maps': { eth0: { inet: [{ address: '10.0.0.1', prefix: 8 }] } },
  'odd keys': { '': 1, 'a.b': 2, $set: 3, __proto__x: 4, ключ: 5, 'with space': 6, "it's": 7 },
  'nested 50 deep': deep(50),
  'many keys': Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`key${n}`, n])),
  'a long list': Array.from({ length: 5000 }, (_, n) => n),
  '5 MB of text': 'x'.repeat(5 * 1024 * 1024),
  'a result of states': {
    'file_|-a_|-/etc/motd_|-managed': {
      result: true,
      changes: { diff: '-a\n+b' },
      comment: 'ok',
      duration: 1.5,
    },
  },
}

const ODD_IDS = ['minion.example.com', 'web-01_a', "o'brien", 'a b', 'minion:4505', 'ключ', 'x'.repeat(200)]
const ODD_TEXTS: [string, string][] = [
  ['empty', ''],
  ['with NUL', 'a\0b'],
  ['of several lines', 'one\r\ntwo'],
  ['of control characters', '\u0001\u001b\u007f\u0085\u009f'],
  ['of noncharacters', '\ufdd0\uffff\u{1ffff}'],
  ['of many bytes', '世'.repeat(512)],
  ['of many astral characters', `x${'\u{10428}'.repeat(255)}`],
  ['long', 'x'.repeat(100_000)],
  ['with dots and wildcards', '..*.>.$.#.+'],
]
const INJECTION = `x'); DROP TABLE jids; -- "\`$(id)\``

/** Bytes are bytes, in whatever class a store's client has them. */
const withoutBuffer = (value: unknown): unknown =>
  value instanceof Uint8Array ? new Uint8Array(value) : value

let last = 0
/** Job ids in order, of this suite only. */
const nextJid = (): string =>
  `20300101${String(process.pid % 10_000).padStart(4, '0')}${String(last++).padStart(8, '0')}`

function aReturn(changes: Partial<ReturnRecord> = {}): ReturnRecord {
  return {
    jid: nextJid(),
    id: 'web1',
    fun: 'test.echo',
    fun_args: ['hello'],
    return: true,
    retcode: 0,
    success: true,
    ...changes,
  }
}

const aLoad = (jid: string, changes: Readonly<Record<string, unknown>> = {}): LoadRecord => ({
  jid,
  load: {
    jid,
    fun: 'test.echo',
    arg: ['hello'],
    tgt: '*',
    tgt_type: 'glob',
    user: 'root',
    ret: '',
    cmd: 'publish',
    ...changes,
  },
  minions: ['web1', 'web2'],
})

const anEvent = (tag: string, n = 0): EventRecord => ({
  tag,
  data: { n, _stamp: '2030-01-01T00:00:00.000000' },
})

/** What every returner must do, for the members it has. */
export async function returnerContract(store: StoreUnderTest): Promise<void> {
  if (store.needs && !store.needs.isMet)
    return test(`the returner ${store.name} is tested with its store`, needs(store.needs), () => {})
  const prepared = await store.prepare()
  describe(`the returner ${store.name}`, () => {
    let returner: Returner
    const open = (config = prepared.config) => {
      const loader = openLoader('returners', { config, log: quietLog })
      return openConfiguredReturner({ name: store.name }, { loader, config, log: quietLog })
    }
    beforeAll(async () => {
      returner = await open()
      await returner.migrate?.()
    })
    afterAll(async () => {
      await returner?.close?.()
      await prepared.drop()
    })

    const read = async (jid: string, id = 'web1') =>
      (await returner.getJid?.(jid))
        ?.filter((ret) => ret.id === id)
        .map((ret) => ({ ...ret, return: withoutBuffer(ret.return) }))

    test.each(Object.entries(KINDS))('stores a return that is %s', async (kind, value) => {
      const ret = aReturn({ return: value })
      await returner.save(ret)
      if (!returner.getJid || store.lossy?.[kind] !== undefined) return
      expect(await read(ret.jid)).toEqual([expect.objectContaining({ ...ret, return: value })])
    })

    test.each(ODD_IDS)('stores the return of a minion called %s', async (id) => {
      const ret = aReturn({ id })
      await returner.save(ret)
      if (returner.getJid)
        expect(await read(ret.jid, id)).toEqual([expect.objectContaining({ id, return: true })])
    })

    // What a minion of ill will says must not hold up the records of the others.
    test.each(ODD_TEXTS)(
      'takes a function and a tag that are %s, or refuses them for good',
      async (_, text) => {
        const isTaken = (saving: Promise<unknown> | undefined) =>
          Promise.resolve(saving).catch((error) => expect(error).toMatchObject({ code: 'UNSAVABLE' }))
        await isTaken(returner.save(aReturn({ fun: text })))
        await isTaken(returner.saveEvents?.([anEvent(`odd/${text}`.slice(0, 512))], `odd ${nextJid()}`))
        await returner.save(aReturn())
      },
    )

    test('stores SQL and shell syntax in every field as plain text', async () => {
      const ret = aReturn({
        id: INJECTION,
        fun: INJECTION.slice(0, 50),
        fun_args: [INJECTION],
        return: INJECTION,
        user: INJECTION,
        metadata: { [INJECTION]: INJECTION },
      })
      await returner.save(ret)
      if (returner.getJid) expect(await read(ret.jid, INJECTION)).toEqual([expect.objectContaining(ret)])
      await returner.getJid?.(`' OR '1'='1`).then(
        (found) => expect(found).toEqual([]),
        () => undefined,
      )
      if (returner.getJid) expect(await read(ret.jid, INJECTION)).toHaveLength(1)
    })

    test('stores all fields of a return', async () => {
      const ret = aReturn({
        success: false,
        retcode: 2,
        out: 'nested',
        metadata: { ticket: 7 },
        fun_args: ['a', { b: 1 }],
      })
      await returner.save(ret)
      if (returner.getJid) expect(await read(ret.jid)).toEqual([expect.objectContaining(ret)])
    })

    test('has one return for each minion and job, the last one, however often it is saved', async () => {
      const ret = aReturn({ return: 'no answer', success: false, state: 'timed_out' })
      await returner.save(ret)
      const { state, ...real } = { ...ret, return: 'done', success: true }
      for (let n = 0; n < 3; n++) await returner.save(real)
      if (prepared.rows && returner.idempotent !== false)
        expect(await prepared.rows(ret.jid, 'web1')).toHaveLength(1)
      if (!returner.getJid) return
      const [found, ...others] = (await read(ret.jid)) ?? []
      expect(others).toEqual([])
      expect(found).toMatchObject(real)
      expect(found).not.toHaveProperty('state')
    })

    test('replaces the row of a missing return by the return, but never a return by such a row', async () => {
      if (!returner.sharedSince || !returner.getJid) return
      const ret = aReturn()
      const missing = { ...ret, id: 'other', return: 'Minion did not return.', state: 'timed_out' }
      await returner.save(missing)
      await returner.saveBatch?.([ret, missing])
      await returner.save({ ...missing, id: ret.id })
      const states = async () =>
        Object.fromEntries(((await returner.getJid?.(ret.jid)) ?? []).map(({ id, state }) => [id, state]))
      expect(await states()).toEqual({ [ret.id]: undefined, other: 'timed_out' })
      await returner.save({ ...ret, id: 'other' })
      expect(await states()).toEqual({ [ret.id]: undefined, other: undefined })
    })

    test(
      'saves many returns at once, and again after it is not sure whether they arrived',
      SLOW,
      async () => {
        const jid = nextJid()
        const rets = Array.from({ length: 500 }, (_, n) => aReturn({ jid, id: `m${n}`, return: n }))
        const save = async (some: readonly ReturnRecord[]) => {
          if (returner.saveBatch) await returner.saveBatch(some)
          else for (const ret of some) await returner.save(ret)
        }
        await save(rets.slice(0, 300))
        await save(rets)
        if (!returner.getJid) return
        const found = await returner.getJid(jid)
        expect(found).toHaveLength(500)
        expect(new Map(found.map((ret) => [ret.id, ret.return]))).toEqual(
          new Map(rets.map((ret) => [ret.id, ret.return])),
        )
      },
    )

    test('stores jobs and lists them, newest first', async () => {
      if (!returner.saveLoad) return
      const jobs = Array.from({ length: 5 }, () =>
        aLoad(nextJid(), { arg: [INJECTION, { k: 3n ** 40n }], user: INJECTION }),
      )
      for (const job of jobs) await returner.saveLoad(job)
      await returner.saveLoad(jobs[0] as LoadRecord)
      if (returner.getLoad)
        for (const job of jobs)
          expect(await returner.getLoad(job.jid)).toMatchObject({ jid: job.jid, load: job.load })
      const jids = jobs.map(({ jid }) => jid)
      if (returner.getJids) {
        const listed: string[] = []
        for await (const { jid } of returner.getJids()) if (jids.includes(jid)) listed.push(jid)
        expect(listed).toEqual(jids.toReversed())
      }
      if (returner.getJidsFilter) {
        const find = aLoad(nextJid(), { fun: 'saltutil.find_job' })
        await returner.saveLoad(find)
        expect((await returner.getJidsFilter(2, true)).map(({ jid }) => jid)).toEqual(
          jids.toReversed().slice(0, 2),
        )
        expect((await returner.getJidsFilter(2, false)).map(({ jid }) => jid)).toEqual([
          find.jid,
          jids.at(-1),
        ])
      }
    })

    test('stores the time of the last return of a job', async () => {
      if (!returner.updateEndtime || !returner.saveLoad || !returner.getLoad) return
      const { jid } = aReturn()
      await returner.saveLoad(aLoad(jid))
      expect(await returner.getLoad(jid)).not.toHaveProperty('endtime')
      for (const time of ['2030-01-01T00:00:00.000Z', '2030-02-03T04:05:06.789Z'])
        await returner.updateEndtime(jid, time)
      expect(await returner.getLoad(jid)).toHaveProperty('endtime', '2030-02-03T04:05:06.789Z')
    })

    test('finds no job that was not saved', async () => {
      expect(await returner.getLoad?.(nextJid())).toBeUndefined()
      expect((await returner.getJid?.(nextJid())) ?? []).toEqual([])
    })

    test('stores the expected minions of a job', async () => {
      if (!returner.saveLoad || !returner.saveMinions || !returner.getLoad) return
      const job = aLoad(nextJid())
      await returner.saveLoad(job)
      await returner.saveMinions(job.jid, ['web2', 'behind-syndic'])
      expect([...((await returner.getLoad(job.jid))?.minions ?? [])].sort()).toEqual([
        'behind-syndic',
        'web1',
        'web2',
      ])
    })

    test('returns the last return of a function, and the known minions', async () => {
      const fun = `contract.f${nextJid()}`
      await returner.save(aReturn({ fun, id: 'web1', return: 'old' }))
      await returner.save(aReturn({ fun, id: 'web1', return: 'new' }))
      await returner.save(aReturn({ fun, id: 'web2', return: 'other' }))
      if (returner.getFun) {
        const found = await returner.getFun(fun)
        expect(new Map(found.map((ret) => [ret.id, ret.return]))).toEqual(
          new Map([
            ['web1', 'new'],
            ['web2', 'other'],
          ]),
        )
      }
      if (returner.getMinions)
        expect(await returner.getMinions()).toEqual(expect.arrayContaining(['web1', 'web2']))
    })

    test('stores each event once, however often its batch is written', async () => {
      if (!returner.saveEvents) return
      const tag = `salt/contract/${nextJid()}`
      const events = Array.from({ length: 20 }, (_, n) => anEvent(tag, n))
      await returner.saveEvents(events, `${tag} 1`)
      await returner.saveEvents(events, `${tag} 1`)
      await returner.saveEvents([anEvent(tag, 20)], `${tag} 2`)
      if (prepared.events && returner.idempotent !== false)
        expect(await prepared.events(tag)).toHaveLength(21)
    })

    test('removes only what is older than the given time', async () => {
      if (!returner.cleanOldJobs || !returner.saveLoad) return
      const job = aLoad(nextJid())
      await returner.saveLoad(job)
      await returner.save(aReturn({ jid: job.jid }))
      await returner.cleanOldJobs(new Date(Date.now() - 3_600_000))
      if (returner.getLoad) expect(await returner.getLoad(job.jid)).toBeDefined()
      await returner.cleanOldJobs(new Date(Date.now() + 3_600_000))
      if (returner.getLoad) expect(await returner.getLoad(job.jid)).toBeUndefined()
      if (returner.getJid) expect(await read(job.jid)).toEqual([])
    })

    test('removes one job', async () => {
      if (!returner.remove) return
      const [gone, kept] = [aReturn(), aReturn()]
      for (const ret of [gone, kept]) {
        await returner.saveLoad?.(aLoad(ret.jid))
        await returner.save(ret)
      }
      await returner.remove(gone.jid)
      if (!returner.getJid) return
      expect(await read(gone.jid)).toEqual([])
      expect(await read(kept.jid)).toHaveLength(1)
    })

    test('shares values of a cluster: each change is seen, and none overwrites an unseen one', async () => {
      const { sharedSince, putShared } = returner
      if (!sharedSince || !putShared) return
      const cluster = `north ${nextJid()}`
      const put = (key: string, text: string, expected: number) =>
        putShared(cluster, key, Buffer.from(text), expected)
      const since = async (revision: number, limit = 100) =>
        (await sharedSince(cluster, revision, limit)).map(({ key, value, revision }) => ({
          key,
          text: Buffer.from(value).toString(),
          revision,
        }))
      expect(await since(0)).toEqual([])
      const one = await put('minion/web1.example.com', 'one', 0)
      const two = await put(INJECTION, 'two', 0)
      if (!one || !two) throw new Error('a value was not set')
      expect(await put(INJECTION, 'lost', 0)).toBeUndefined()
      expect(await put('minion/web1.example.com', 'lost', two)).toBeUndefined()
      const both = [
        { key: 'minion/web1.example.com', text: 'one', revision: one },
        { key: INJECTION, text: 'two', revision: two },
      ]
      expect(await since(0)).toEqual(both)
      expect(await since(0, 1)).toEqual(both.slice(0, 1))
      const three = await put('minion/web1.example.com', 'three', one)
      expect(await since(one)).toEqual([both[1], { ...both[0], text: 'three', revision: three }])
      expect(await since(three ?? 0)).toEqual([])
      expect(await sharedSince(`${cluster}2`, 0, 100)).toEqual([])
      const many = Array.from({ length: 20 }, (_, n) => `key ${n}`)
      const revisions = await Promise.all(many.map((key) => put(key, key, 0)))
      expect(new Set((await since(three ?? 0)).map(({ key }) => key))).toEqual(new Set(many))
      const raced = await Promise.all(many.map(() => put('key 0', 'raced', revisions[0] ?? 0)))
      expect(raced.filter((revision) => revision !== undefined)).toHaveLength(1)
    })

    test('removes a value of a cluster unless it was changed meanwhile', async () => {
      const { sharedSince, putShared, removeShared } = returner
      if (!sharedSince || !putShared || !removeShared) return
      const cluster = `north ${nextJid()}`
      const put = (key: string, expected: number) => putShared(cluster, key, Buffer.from(key), expected)
      const keys = async () => (await sharedSince(cluster, 0, 100)).map(({ key }) => key)
      const [one, other] = [await put(INJECTION, 0), await put('token/1', 0)]
      const changed = await put('token/1', other ?? 0)
      await removeShared(cluster, 'token/1', other ?? 0)
      await removeShared(`${cluster}2`, 'token/1', changed ?? 0)
      expect(await keys()).toEqual([INJECTION, 'token/1'])
      await removeShared(cluster, INJECTION, one ?? 0)
      await removeShared(cluster, INJECTION, one ?? 0)
      expect(await keys()).toEqual(['token/1'])
      expect(await put(INJECTION, 0)).toBeGreaterThan(changed ?? 0)
      await removeShared(cluster, 'token/1', changed ?? 0)
      expect(await keys()).toEqual([INJECTION])
    })

    test('treats a value with a damaged revision as absent, and shows all later ones', async () => {
      const { sharedSince, putShared } = returner
      if (!sharedSince || !putShared || !prepared.setRevision) return
      const cluster = `north ${nextJid()}`
      const put = (key: string, expected = 0) => putShared(cluster, key, Buffer.from(key), expected)
      const keys = async (limit = 100) => (await sharedSince(cluster, 0, limit)).map(({ key }) => key)
      await put('zero')
      for (const revision of prepared.damagedRevisions ?? []) {
        for (const key of ['one', 'two']) await put(key)
        await prepared.setRevision(cluster, 'zero', revision)
        expect(await keys(1)).toEqual(['one'])
        expect(await put('zero')).toBeDefined()
        expect(await keys()).toEqual(['one', 'two', 'zero'])
      }
    })

    test('skips malformed and very long values', async () => {
      const { sharedSince, putShared } = returner
      if (!sharedSince || !putShared || !prepared.putJunk) return
      const cluster = `north ${nextJid()}`
      await prepared.putJunk(cluster, 10)
      const revision = await putShared(cluster, 'one', Buffer.from('one'), 0)
      if (prepared.canBeLong) await prepared.putJunk(cluster, 9_000_000)
      const found = await sharedSince(cluster, 0, 100)
      expect(found.find(({ key }) => key === 'one')).toMatchObject({ revision })
      for (const { value } of found) expect(value.byteLength).toBeLessThan(100)
    })

    test('stores values again after its records of a cluster were damaged', async () => {
      const { sharedSince, putShared } = returner
      if (!sharedSince || !putShared) return
      for (const damage of prepared.damages ?? []) {
        const cluster = `north ${nextJid()}`
        await putShared(cluster, 'one', Buffer.from('one'), 0)
        await damage(cluster)
        expect(await sharedSince(cluster, 0, 100)).toEqual([])
        expect(await putShared(cluster, 'one', Buffer.from('two'), 0)).toBe(1)
        expect(await sharedSince(cluster, 0, 100)).toHaveLength(1)
      }
    })

    test('shows all values that have the same revision', async () => {
      const { sharedSince, putShared } = returner
      if (!sharedSince || !putShared || !prepared.setRevision) return
      const cluster = `north ${nextJid()}`
      for (const key of ['one', 'two', 'three', 'four']) await putShared(cluster, key, Buffer.from(key), 0)
      for (const key of ['one', 'two', 'three']) await prepared.setRevision(cluster, key, '1')
      const found = await sharedSince(cluster, 0, 2)
      expect(found.map(({ key }) => key).sort()).toEqual(['one', 'three', 'two'])
      expect((await sharedSince(cluster, 1, 2)).map(({ key }) => key)).toEqual(['four'])
    })

    test('can be migrated again without harm', async () => {
      if (!returner.migrate) return
      const ret = aReturn()
      await returner.save(ret)
      await returner.migrate()
      if (returner.getJid) expect(await read(ret.jid)).toHaveLength(1)
    })

    test('says what is wrong when the password is wrong', async () => {
      if (!store.wrongCredentials) return
      const refused = await open(store.wrongCredentials(prepared.config))
      try {
        await expect(refused.save(aReturn())).rejects.toThrow()
      } finally {
        await refused.close?.()
      }
    })
  })
}
