/** Users of a database, asked for by a statement of the configuration. */
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

/** As `tls.connect` takes it. */
export interface SqlTls {
  readonly rejectUnauthorized: boolean
  readonly ca?: Buffer
}

export interface SqlDialect {
  /** `mysql`: the backend's name. */
  readonly name: string
  /** For people. */
  readonly says: string
  readonly library: string
  readonly port: number
  /** Where the configuration may have the settings, the first that is there counts. */
  readonly options: readonly string[]
  /** The rows the statement gives, column → value. The connection is closed then, and when the signal is aborted. */
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
  const name = options.find((option) => isMap(opts[option])) ?? (options[0] as string)
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

const isMap = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** One row is somebody; with a column `username`, the one the database has under that name. */
function who(
  rows: readonly Readonly<Record<string, unknown>>[],
  { username }: NameAndPassword,
): Authenticated | Refused {
  const [row] = rows
  if (!row) return { refused: 'the database has no such user with this password' }
  if (rows.length > 1) return { refused: 'auth_sql finds more than one row' }
  const column = Object.keys(row).find((name) => name.toLowerCase() === 'username')
  const name = column === undefined ? username : row[column]
  if (typeof name !== 'string' || name === '') return { refused: 'the column username is no text' }
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
