/** Users of a database, looked up with a statement from the configuration. */
import { readFile } from 'node:fs/promises'
import type { AuthBackend, Authenticated, AuthFacts } from 'salt-ts'
import { type NameAndPassword, nameAndPassword, type Refused } from './_credentials.ts'
import { beforeDeadline } from './_deadline.ts'
import { missingLibrary } from './_library.ts'
import { problemsOf, readSettings } from './_settings.ts'
import { type Statement, statementOf } from './_sql-statement.ts'

export interface SqlSettings {
  readonly host: string
  readonly port: number
  readonly socket: string | undefined
  readonly user: string
  readonly password: string
  readonly database: string
  readonly statement: Statement
  readonly ssl: boolean
  readonly authorities: string | undefined
  readonly insecure: boolean
  readonly seconds: number
}

/** TLS options for `tls.connect`. */
export interface SqlTls {
  readonly rejectUnauthorized: boolean
  readonly ca?: Buffer
}

export interface SqlDialect {
  /** Name of the backend: `mysql`. */
  readonly name: string
  /** Name in messages: `MySQL`. */
  readonly says: string
  readonly library: string
  readonly port: number
  /** Options that may hold the settings; the first that is set counts. */
  readonly options: readonly string[]
  /**
   * Run the statement and return its rows (column → value). The connection is closed afterwards, and at once when the signal is
   * aborted.
   */
  rows(
    settings: SqlSettings,
    given: NameAndPassword,
    tls: SqlTls | undefined,
    signal: AbortSignal,
  ): Promise<readonly Readonly<Record<string, unknown>>[]>
}

function settingsOf(
  { options, port }: SqlDialect,
  { opts, settings }: Pick<AuthFacts, 'opts' | 'settings'>,
): SqlSettings {
  const name = options.find((option) => isRecord(opts[option])) ?? (options[0] as string)
  const values = { ...(opts[name] as object), ...settings }
  return readSettings(`${name}.`, values, (read) => {
    const statement = statementOf(read.needed('auth_sql'))
    if (typeof statement === 'string') read.refuse('auth_sql', statement)
    return {
      host: read.text('hostname') ?? 'localhost',
      port: read.integer('port', port, [1, 65_535]),
      socket: read.text('unix_socket'),
      user: read.needed('username'),
      password: read.text('password') ?? '',
      database: read.needed('database'),
      statement: typeof statement === 'string' ? { parts: [], values: [] } : statement,
      ssl: read.flag('ssl'),
      authorities: read.text('ssl_ca'),
      insecure: read.flag('insecure'),
      seconds: read.seconds('timeout', 10),
    }
  })
}

const isRecord = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Return the user if there is exactly one row. Its column `username`, if there is one, gives the name. */
function who(
  rows: readonly Readonly<Record<string, unknown>>[],
  { username }: NameAndPassword,
): Authenticated | Refused {
  const [row] = rows
  if (!row) return { refused: 'the database has no such user with this password' }
  if (rows.length > 1) return { refused: 'auth_sql returned more than one row' }
  const column = Object.keys(row).find((name) => name.toLowerCase() === 'username')
  const name = column === undefined ? username : row[column]
  if (typeof name !== 'string' || name === '') return { refused: 'the column username is not a text' }
  return { name }
}

export function sqlBackend(dialect: SqlDialect): AuthBackend {
  return {
    async authenticate(credentials, facts) {
      const said = nameAndPassword(credentials)
      if ('refused' in said) return said
      const settings = settingsOf(dialect, facts)
      const { host, port, socket, seconds } = settings
      const place = `${dialect.says} at ${socket ?? `${host}:${port}`}`
      const rows = await beforeDeadline({ place, seconds, signal: facts.signal }, async (signal) =>
        dialect.rows(settings, said, await tlsOf(settings), signal),
      )
      return who(rows, said)
    },
    check: async (facts) => [
      ...missingLibrary(dialect.name, dialect.library),
      ...(await problemsOf(() => settingsOf(dialect, facts))),
    ],
  }
}

async function tlsOf({ ssl, authorities, insecure }: SqlSettings): Promise<SqlTls | undefined> {
  if (!ssl && authorities === undefined) return undefined
  return {
    rejectUnauthorized: !insecure,
    ...(authorities !== undefined && { ca: await readFile(authorities) }),
  }
}
