/**
 * Keeps jobs and returns in Redis, under the keys of Salt's returner: the hash `ret:<jid>` with a JSON text per minion,
 * `load:<jid>`, `<minion>:<fun>` with the last jid of that function, and the set `minions`. Additional keys: the set
 * `minions:<jid>`, those of `_redis-shared.ts`, the stream `{salt_events}` of events, and `{salt_events}:<batch>` for each batch in it.
 */
import {
  type EventRecord,
  fromRecordJson,
  type LoadRecord,
  p,
  type Returner,
  type ReturnRecord,
  recordJson,
  returner,
} from 'salt-ts'
import { firstJobs, jobOf, keepSeconds, loadWithMinions, pages } from './_jobs.ts'
import { type Connection, connectionOptions, connectRedis } from './_redis-connection.ts'
import { redisShared } from './_redis-shared.ts'

const STREAM = '{salt_events}'

/** Adds a batch of events once. KEYS: stream and batch; ARGV: seconds to remember it, maximum length, tag, data, tag, data, … */
const ADD_EVENTS = `
if not redis.call('set', KEYS[2], '1', 'NX', 'EX', ARGV[1]) then return 0 end
for i = 3, #ARGV, 2 do
  redis.call('xadd', KEYS[1], 'MAXLEN', '~', ARGV[2], '*', 'tag', ARGV[i], 'data', ARGV[i + 1])
end
return 1`

export default returner({
  options: {
    ...connectionOptions,
    /** Approximate number of events kept. */
    events_max: p.default(p.integer({ minimum: 1 }), 1_000_000),
  },
  create: async ({ options, opts }) => {
    const connection = await connectRedis(options)
    const keep = keepSeconds(opts)
    return {
      ...writing(connection, keep, options.events_max),
      ...reading(connection),
      ...forgetting(connection, keep),
      ...redisShared(connection),
      close: async () => connection.close(),
    }
  },
})

function writing({ ask }: Connection, keep: number, eventsMax: number) {
  const saveBatch = (rets: readonly ReturnRecord[]) =>
    ask(async (redis) => {
      const jids = new Set(rets.map(({ jid }) => jid))
      await Promise.all([
        ...rets.map((ret) => {
          const [key, json] = [`ret:${ret.jid}`, recordJson(ret)]
          return ret.state === undefined ? redis.hset(key, ret.id, json) : redis.hsetnx(key, ret.id, json)
        }),
        ...[...jids].map((jid) => keep > 0 && redis.expire(`ret:${jid}`, keep)),
        ...rets.map(({ id, fun, jid }) => redis.set(`${id}:${fun}`, jid)),
        redis.sadd('minions', ...new Set(rets.map(({ id }) => id))),
      ])
    })
  const saveMinions = (jid: string, minions: readonly string[]) =>
    ask(async (redis) => {
      if (minions.length === 0) return
      await Promise.all([
        redis.sadd(`minions:${jid}`, ...minions),
        keep > 0 && redis.expire(`minions:${jid}`, keep),
      ])
    })
  return {
    save: (ret) => saveBatch([ret]),
    saveBatch,
    saveLoad: (job) =>
      ask(async (redis) => {
        const text = recordJson(loadWithMinions(job))
        await (keep > 0 ? redis.setex(`load:${job.jid}`, keep, text) : redis.set(`load:${job.jid}`, text))
      }),
    saveMinions,
    saveEvents: (events: readonly EventRecord[], batch: string) =>
      ask(async (redis) => {
        const texts = events.flatMap(({ tag, data }) => [tag, recordJson(data)])
        await redis.eval(ADD_EVENTS, 2, STREAM, `${STREAM}:${batch}`, keep || 86_400, eventsMax, ...texts)
      }),
  } satisfies Returner
}

function reading({ ask, keys }: Connection) {
  const getLoad = (jid: string) =>
    ask(async (redis) => {
      const [text, minions] = await Promise.all([redis.get(`load:${jid}`), redis.smembers(`minions:${jid}`)])
      return text === null ? undefined : jobOf(jid, fieldsOf(text), minions)
    })
  async function* getJids(): AsyncGenerator<LoadRecord> {
    const jids = (await keys('load:*')).map((key) => key.slice('load:'.length))
    for (const page of pages(jids.sort().reverse(), 100))
      for (const job of await Promise.all(page.map(getLoad))) if (job) yield job
  }
  return {
    getLoad,
    getJid: async (jid) => {
      const found = new Map<string, ReturnRecord>()
      for (let cursor = '0'; ; ) {
        const [next, pairs] = await ask((redis) => redis.hscan(`ret:${jid}`, cursor, 'COUNT', 500))
        for (const [id, text] of pages(pairs, 2)) if (id !== undefined && text) found.set(id, returnOf(text))
        if (next === '0') return [...found.values()]
        cursor = next
      }
    },
    getFun: async (fun) => {
      const found: ReturnRecord[] = []
      for (const ids of pages(await ask((redis) => redis.smembers('minions')), 500)) {
        const texts = await ask((redis) =>
          Promise.all(
            ids.map(async (id) => {
              const jid = await redis.get(`${id}:${fun}`)
              return jid === null ? null : await redis.hget(`ret:${jid}`, id)
            }),
          ),
        )
        found.push(...texts.filter((text) => text !== null).map(returnOf))
      }
      return found
    },
    getJids,
    getJidsFilter: (count, filterFindJob) => firstJobs(getJids(), count, filterFindJob),
    getMinions: () => ask((redis) => redis.smembers('minions')),
  } satisfies Partial<Returner>
}

const KEYS_OF_JOBS = ['load', 'ret', 'minions'] as const

/** Redis itself deletes keys that are older than `keep_jobs_seconds`. */
function forgetting({ ask, keys }: Connection, keep: number) {
  return {
    /** Delete old jobs. The time left of a key reveals its age; keys without expiry stay. */
    cleanOldJobs: async (before) => {
      const least = keep * 1000 - (Date.now() - before.getTime())
      for (const kind of KEYS_OF_JOBS)
        for (const page of pages(await keys(`${kind}:*`), 500))
          await ask(async (redis) => {
            const left = await Promise.all(page.map((key) => redis.pttl(key)))
            const old = page.filter((_, n) => (left[n] ?? -1) >= 0 && (left[n] ?? 0) < least)
            await Promise.all(old.map((key) => redis.del(key)))
          })
    },
    remove: (jid) =>
      ask(async (redis) => {
        await Promise.all(KEYS_OF_JOBS.map((kind) => redis.del(`${kind}:${jid}`)))
      }),
  } satisfies Partial<Returner>
}

const returnOf = (text: string) => fromRecordJson(text) as ReturnRecord
const fieldsOf = (text: string) => fromRecordJson(text) as LoadRecord['load']
