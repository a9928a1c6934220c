/** Keeps returns, jobs and events in Salt's collections of MongoDB: `saltReturns`, `jobs`, `events`. */
import { type LoadRecord, p, type ReturnRecord, returner, UnsavableError } from 'salt-ts'
import { firstJobs } from './_jobs.ts'
import { library } from './_library.ts'
import {
  eventDocument,
  jobDocument,
  jobId,
  jobOf,
  type MongoDocument,
  type MongoJob,
  returnDocument,
  returnOf,
} from './_mongo-document.ts'
import { duration, portNumber } from './_options.ts'
import { tlsFacts, tlsOptions } from './_tls.ts'

/** Matches errors of the server and the driver about documents larger than 16 MB. */
const TOO_LARGE = /larger than the maximum size|BSONObj size|offset.*out of range|too large/i

export default returner({
  options: {
    /** `mongodb://user:password@host/db`, instead of the other connection options. */
    uri: p.optional(p.secret(p.string({ minLength: 1 }))),
    host: p.optional(p.string({ minLength: 1 })),
    port: p.default(portNumber, 27_017),
    db: p.optional(p.string({ minLength: 1 })),
    user: p.optional(p.string()),
    password: p.optional(p.secret(p.string())),
    /** Seconds until a response must arrive. */
    timeout: p.default(duration, 10),
    ...tlsOptions,
  },
  async create({ options }) {
    const { uri, host = 'localhost', port, db, user, password = '', insecure } = options
    if (uri !== undefined && options.host !== undefined)
      throw new Error('mongo.uri and mongo.host are both set. Remove one of them')
    const { MongoClient } = await library('mongo', 'mongodb', () => import('mongodb'))
    const tls = await tlsFacts(options)
    const { rejectUnauthorized: _, ...certificates } = tls ?? {}
    const ms = options.timeout * 1000
    const client = new MongoClient(uri ?? `mongodb://${host}:${port}`, {
      serverSelectionTimeoutMS: ms,
      connectTimeoutMS: ms,
      socketTimeoutMS: ms,
      w: 'majority',
      journal: true,
      ...(user !== undefined && { auth: { username: user, password } }),
      ...(tls && { tls: true, tlsAllowInvalidCertificates: insecure, ...certificates }),
    })
    const database = client.db(db ?? (uri === undefined ? 'salt' : undefined))
    const returns = database.collection<MongoDocument>('saltReturns')
    const jobs = database.collection<MongoJob>('jobs')
    const events = database.collection<MongoDocument>('events')

    /** Run a call. Errors name the host, but no password. */
    async function call<T>(work: () => Promise<T>): Promise<T> {
      try {
        return await work()
      } catch (error) {
        const { message } = error as Error
        if (TOO_LARGE.test(message)) throw new UnsavableError(`MongoDB: ${message}`)
        throw new Error(`MongoDB at ${client.options.hosts.join(', ')}: ${message}`, { cause: error })
      }
    }

    const replaceAll = (collection: typeof returns, documents: readonly MongoDocument[]) =>
      call(async () => {
        const writes = documents.map(({ _id, ...replacement }) => ({
          replaceOne: { filter: { _id }, replacement, upsert: true },
        }))
        await collection.bulkWrite(writes, { ordered: false })
      })

    async function* getJids(): AsyncGenerator<LoadRecord> {
      for await (const job of jobs.find().sort({ jid: -1 })) yield jobOf(job)
    }

    const forget = (filter: object) =>
      call(async () => {
        await returns.deleteMany(filter)
        await jobs.deleteMany(filter)
      })

    return {
      save: (ret) => replaceAll(returns, [returnDocument(ret)]),
      saveBatch: (rets) => replaceAll(returns, rets.map(returnDocument)),
      saveLoad: (job) =>
        call(async () => {
          const minions = { $each: [...job.minions] }
          const changes = { $set: jobDocument(job), $addToSet: { minions } }
          await jobs.updateOne({ _id: jobId(job.jid) }, changes, { upsert: true })
        }),
      saveMinions: (jid, minions) =>
        call(async () => {
          const changes = { $set: { jid }, $addToSet: { minions: { $each: [...minions] } } }
          await jobs.updateOne({ _id: jobId(jid) }, changes, { upsert: true })
        }),
      saveEvents: (records, batch) =>
        replaceAll(
          events,
          records.map((event, index) => eventDocument(event, `${batch} ${index}`)),
        ),
      getLoad: (jid) =>
        call(async () => {
          const job = await jobs.findOne({ jid })
          return job ? jobOf(job) : undefined
        }),
      /** Return the returns of a job. Python wrote a document for each repetition; the last one counts. */
      getJid: (jid) =>
        call(async () => {
          const byId = new Map<unknown, ReturnRecord>()
          for await (const document of returns.find({ jid })) byId.set(document.minion, returnOf(document))
          return [...byId.values()]
        }),
      getFun: (fun) =>
        call(async () => {
          const byId = new Map<unknown, ReturnRecord>()
          for await (const document of returns.find({ fun }).sort({ jid: 1 }))
            byId.set(document.minion, returnOf(document))
          return [...byId.values()]
        }),
      getMinions: () => call(() => returns.distinct('minion') as Promise<string[]>),
      getJids,
      getJidsFilter: (count, filterFindJob) => firstJobs(getJids(), count, filterFindJob),
      cleanOldJobs: (before) => forget({ alter_time: { $lt: before } }),
      remove: (jid) => forget({ jid }),
      migrate: () =>
        call(async () => {
          for (const [collection, fields] of [
            [returns, ['minion', 'jid', 'fun', 'alter_time']],
            [jobs, ['jid', 'alter_time']],
            [events, ['tag']],
          ] as const)
            await collection.createIndexes(fields.map((field) => ({ key: { [field]: 1 } })))
          return []
        }),
      close: () => client.close(),
    }
  },
})
