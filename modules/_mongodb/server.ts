/** Calls to a MongoDB server. */
import type { Db, MongoClient } from 'mongodb'
import { type Context, p } from 'salt-ts'
import { library } from '../_database/library.ts'
import { setting, textSetting } from '../_database/settings.ts'

const CONNECT_MS = 10_000
const text = p.optional(p.string())

/** Where a function connects to, unless the settings `mongodb.host`, … say it. `host` may be a URI, too. */
export const login = {
  user: text,
  password: p.secret(text),
  host: p.secret(text),
  port: p.optional(p.integer({ minimum: 1, maximum: 65_535 })),
}
export const authdb = text
export const database = p.default(p.string(), 'admin')

export interface Place {
  readonly user?: string | undefined
  readonly password?: string | undefined
  readonly host?: string | undefined
  readonly port?: number | undefined
  /** The database that knows the user, by default the one that is used. */
  readonly authdb?: string | undefined
  readonly database?: string
}

export type Outcome<T> =
  | { readonly isOk: true; readonly value: T }
  | {
      readonly isOk: false
      /** Whether the server could be reached, and took the user. */
      readonly isConnected: boolean
      /** The sentence that Salt returns. */
      readonly error: string
      readonly address: string
    }

/** Run `work` on a connection of its own. An error is logged, and makes the job fail. */
export async function onServer<T>(
  { database = 'admin', ...place }: Place,
  context: Context,
  work: (database: Db, client: MongoClient) => Promise<T>,
): Promise<Outcome<T>> {
  const client = await clientFor({ database, ...place }, context)
  const stop = () => void client.close()
  context.signal.addEventListener('abort', stop)
  let isConnected = false
  try {
    context.signal.throwIfAborted()
    await client.connect()
    isConnected = true
    return { isOk: true, value: await work(client.db(database), client) }
  } catch (cause) {
    if (!isServerError(cause)) throw cause
    const address = client.options.hosts.join(',')
    context.log.error(`MongoDB at ${address}: ${cause.message}`)
    context.retcode = 1
    const error = isConnected ? cause.message : 'Failed to connect to mongo database'
    return { isOk: false, isConnected, error, address }
  } finally {
    context.signal.removeEventListener('abort', stop)
    await client.close()
  }
}

/** The driver's errors, those of servers among them, have such names. */
const isServerError = (cause: unknown): cause is Error => /^(Mongo|BSON)/.test((cause as Error).name)

async function clientFor(place: Place & { database: string }, context: Context): Promise<MongoClient> {
  const { MongoClient } = library<typeof import('mongodb')>('mongodb', 'mongodb')
  const user = place.user || (await textSetting('mongodb.user', context))
  const password = place.password || (await textSetting('mongodb.password', context))
  const host = place.host || (await textSetting('mongodb.host', context)) || 'localhost'
  const port = place.port ?? Number((await setting('mongodb.port', context)) ?? 27_017)
  const isUri = /^mongodb(\+srv)?:\/\//.test(host)
  // A URI may have limits of its own.
  const limits = { serverSelectionTimeoutMS: CONNECT_MS, connectTimeoutMS: CONNECT_MS }
  return new MongoClient(isUri ? host : `mongodb://${addressOf(host)}:${port}`, {
    ...(!isUri && limits),
    ...(user && password && { auth: { username: user, password } }),
    authSource: place.authdb || place.database,
    // Python's integers are those of 64 bits, too.
    useBigInt64: true,
  })
}

const addressOf = (host: string): string => (host.includes(':') ? `[${host}]` : encodeURIComponent(host))
