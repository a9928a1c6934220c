/** Shared by postgres and pgjsonb: connections, and tables that differ only in the type of their JSON columns. */
import type { ClientBase, PoolConfig, QueryConfig } from 'pg'
import { type Args, p, recordJson, UnsavableError } from 'salt-ts'
import { library } from './_library.ts'
import { duration, isSet, portNumber } from './_options.ts'
import { sharedSchema } from './_postgres-shared.ts'
import type { Query, SqlDatabase, SqlDialect } from './_sql-database.ts'
import { funText, RETURN_COLUMNS, returnOf } from './_sql-rows.ts'
import { pemFiles } from './_tls.ts'

/** Options of both, except the password. Times are in seconds. */
export const postgresOptions = {
  /** A name, an address, or the folder of a Unix socket. */
  host: p.default(p.string(), 'localhost'),
  user: p.default(p.string(), 'salt'),
  db: p.default(p.string(), 'salt'),
  port: p.default(portNumber, 5432),
  /** Default: `verify-full` with an `sslrootcert`, else `disable`. `require` verifies certificates, too. */
  sslmode: p.optional(p.enum('disable', 'require', 'verify-ca', 'verify-full', 'None')),
  sslcert: p.optional(p.string()),
  sslkey: p.optional(p.string()),
  sslrootcert: p.optional(p.string()),
  sslcrl: p.optional(p.string()),
  /** Accept any certificate. */
  insecure: p.default(p.boolean(), false),
  /** Limit for connecting, and for each response. */
  timeout: p.default(duration, 10),
}

type Options = Args<typeof postgresOptions>

const PEM = { ca: 'sslrootcert', cert: 'sslcert', key: 'sslkey', crl: 'sslcrl' } as const

/** 'salt' in ASCII: separates our advisory locks from those of other programs. */
const LOCKS = 0x73616c74

/** @throws an Error with a sentence if the package pg is not installed or a file of TLS cannot be read. */
export async function postgresDatabase(
  name: string,
  options: Options,
  password: string,
): Promise<SqlDatabase> {
  const { Pool } = await library(name, 'pg', () => import('pg'))
  const { host, port, user, db, timeout } = options
  const pool = new Pool({
    host,
    port,
    user,
    password,
    database: db,
    ssl: await tls(options),
    application_name: 'salt-ts',
    connectionTimeoutMillis: timeout * 1000,
    keepAlive: true,
    max: 4,
    allowExitOnIdle: true,
    types: { getTypeParser: () => (text: string) => text },
  })
  // A lost connection makes its running query reject; an idle one is replaced by the next query.
  pool.on('error', () => undefined)
  pool.on('connect', (client) => client.on('error', () => undefined))

  /** Run `work` on a connection. After an error the connection is closed, as its state is unknown. */
  async function connected<T>(seconds: number, work: (query: Query) => Promise<T>): Promise<T> {
    try {
      const client = await pool.connect()
      try {
        const result = await work(queryOf(client, seconds))
        client.release()
        return result
      } catch (error) {
        client.release(true)
        throw error
      }
    } catch (error) {
      throw asStoreError(error, name, `PostgreSQL at ${host}:${port}`)
    }
  }

  return {
    query: (sql, values) => connected(timeout, (query) => query(sql, values)),
    transaction: (work, seconds = timeout) =>
      connected(seconds, async (query) => {
        await query('begin')
        const result = await work(query)
        await query('commit')
        return result
      }),
    close: () => pool.end(),
  }
}

function queryOf(client: ClientBase, seconds: number): Query {
  return async (sql, values = []) => {
    let n = 0
    const text = sql.replace(/\?/g, () => `$${++n}`)
    const query: QueryConfig & { query_timeout: number } = {
      text,
      values: [...values],
      query_timeout: seconds * 1000,
    }
    return (await client.query(query)).rows
  }
}

async function tls(options: Options): Promise<PoolConfig['ssl']> {
  const { sslmode, sslrootcert, insecure } = options
  const mode = isSet(sslmode) ? sslmode : isSet(sslrootcert) ? 'verify-full' : 'disable'
  if (mode === 'disable') return false
  return {
    ...(await pemFiles(PEM, options)),
    rejectUnauthorized: !insecure,
    ...(mode === 'verify-ca' && { checkServerIdentity: () => undefined }),
  }
}

/** Classes of SQLSTATE about a value: data exceptions, and program limits. */
const UNSAVABLE = /^(?:22|54)/
const UNDEFINED_TABLE = '42P01'

function asStoreError(error: unknown, name: string, where: string): Error {
  const { message, code = '', errors } = error as AggregateError & { code?: string }
  const text = `${where}: ${message || errors?.map((each) => each.message).join(', ') || code}`
  if (UNSAVABLE.test(code)) return new UnsavableError(text, { cause: error })
  const hint = code === UNDEFINED_TABLE ? `. Tables are created by: salt-run returner.migrate ${name}` : ''
  return new Error(`${text}${hint}`, { cause: error })
}

/** Salt's tables. `type` is that of the JSON columns, `returns` the statement that creates salt_returns, `indexes` are extra ones. */
export const postgresDialect = (
  type: 'text' | 'jsonb',
  returns: string,
  indexes: SqlDialect['schema'] = {},
): SqlDialect => ({
  columns: {
    fun: ({ fun }) => funText(fun),
    jid: ({ jid }) => jid,
    return: (ret) => recordJson(ret.return),
    id: ({ id }) => id,
    success: ({ success }) => String(success),
    full_ret: recordJson,
  },
  time: 'alter_time',
  read: RETURN_COLUMNS,
  returnOf,
  json: recordJson,
  exactId: 'id',
  unlessThere: 'on conflict do nothing',
  forUpdate: 'for update',
  timeText: (time) => time.toISOString(),
  lock: (query, numbers) =>
    query(
      `select pg_advisory_xact_lock(${LOCKS}, number) from unnest(string_to_array(?, ',')::int[]) as number`,
      [numbers.join(',')],
    ),
  existing: `select relname as name from pg_class where relnamespace = current_schema()::regnamespace`,
  schema: {
    jids: `create table jids (jid varchar(255) primary key, load ${type} not null)`,
    salt_returns: returns,
    idx_salt_returns_id: 'create index idx_salt_returns_id on salt_returns (id)',
    idx_salt_returns_jid: 'create index idx_salt_returns_jid on salt_returns (jid)',
    idx_salt_returns_fun: 'create index idx_salt_returns_fun on salt_returns (fun)',
    idx_salt_returns_updated: 'create index idx_salt_returns_updated on salt_returns (alter_time)',
    idx_salt_returns_jid_id: 'create index idx_salt_returns_jid_id on salt_returns (jid, id)',
    seq_salt_events_id: 'create sequence seq_salt_events_id',
    salt_events: `create table salt_events (
      id bigint not null unique default nextval('seq_salt_events_id'), tag varchar(255) not null,
      data ${type} not null, alter_time timestamp with time zone default now(), master_id varchar(255) not null)`,
    idx_salt_events_tag: 'create index idx_salt_events_tag on salt_events (tag)',
    idx_salt_events_time: 'create index idx_salt_events_time on salt_events (alter_time)',
    salt_event_batches: `create table salt_event_batches (
      batch varchar(255) primary key, alter_time timestamp with time zone default now())`,
    ...sharedSchema,
    ...indexes,
  },
  changes: [
    {
      due: `select 1 from information_schema.columns where table_schema = current_schema()
        and table_name = 'jids' and column_name = 'jid' and character_maximum_length < 255`,
      run: 'alter table jids alter column jid type varchar(255)',
      done: 'Widened jids.jid.',
    },
  ],
  createLike: (name, table) => `create table if not exists ${name} (like ${table})`,
})
