/** Statements for a PostgreSQL server, by psql, which can log in as the system's user postgres. */
import { join } from 'node:path'
import { CommandExecutionError, type Context, p } from 'salt-ts'
import { which } from '../_cmd/which.ts'
import { setting, textSetting } from '../_database/settings.ts'
import { type Outcome, runProgram } from '../_program/run.ts'
import { csvRows } from './texts.ts'

export const text = p.optional(p.string())
export const secret = p.secret(p.optional(p.string()))

/** Where a function connects to, unless the settings `postgres.host`, … say it. */
export const server = { user: text, host: text, port: text, maintenance_db: text, password: secret }
/** The system's user that psql runs as: postgres unless a host is given. */
export const runas = p.optional(p.string())
export const where = { ...server, runas }

export interface Where {
  readonly user?: string | undefined
  readonly host?: string | undefined
  readonly port?: string | undefined
  readonly maintenance_db?: string | undefined
  readonly password?: string | undefined
  readonly runas?: string | undefined
}

export type Row = Record<string, string>

/** Return the path of a program of PostgreSQL, in PATH or in the folder of the setting `postgres.bins_dir`. */
export async function findProgram(name: string, bins: string | undefined): Promise<string | undefined> {
  return (await which(name)) ?? (bins ? ((await which(join(bins, name))) ?? undefined) : undefined)
}

/** Run statements in one transaction; those that allow none run alone. Sets the job's return code. */
export const execute = (sql: string, where: Where, context: Context): Promise<Outcome> =>
  psql(['-c', sql], where, context)

/** Run statements as `execute` does, but out of sight of other users, who can see the words of a command. */
export async function executeSecretly(sql: string, where: Where, context: Context): Promise<Outcome> {
  const words = ['-v', 'ON_ERROR_STOP=1', '--single-transaction', '-f', '-']
  const outcome = await psql(words, where, context, `${sql};\n`)
  // psql ends with 3 if a statement of a script fails, but with 1 if that of `-c` does.
  if (outcome.retcode !== 3) return outcome
  context.retcode = 1
  return { ...outcome, retcode: 1 }
}

/** Return the rows of a query, with all values as text and null as an empty one; none if it fails. */
export async function query(sql: string, where: Where, context: Context, write = false): Promise<Row[]> {
  const copy = `COPY (${sql.trim().replace(/;+$/, '')}\n) TO STDOUT WITH CSV HEADER`
  const whole = write ? `START TRANSACTION READ WRITE; ${copy}; COMMIT TRANSACTION;` : copy
  const { retcode, stdout } = await psql(['--quiet', '-c', whole], where, context)
  if (retcode !== 0) return []
  const [header = [], ...rows] = csvRows(stdout)
  return rows.map((row) => Object.fromEntries(header.map((name, index) => [name, row[index] ?? ''])))
}

async function psql(
  words: readonly string[],
  where: Where,
  context: Context,
  input?: string,
): Promise<Outcome> {
  const program = await findProgram('psql', await textSetting('postgres.bins_dir', context))
  if (program === undefined)
    throw new CommandExecutionError(
      "psql is not in PATH. Install PostgreSQL's client, or set postgres.bins_dir to the folder that has it.",
    )
  const { user, host, port, database, password } = await placeOf(where, context)
  return runProgram(
    [
      ...([program, '--no-align', '--no-readline', '--no-psqlrc', '--no-password'] as const),
      ...(user ? [`--username=${user}`] : []),
      ...(host ? [`--host=${host}`] : []),
      ...(port ? [`--port=${port}`] : []),
      // A plain name with `=` in it would be taken for settings of the connection.
      `--dbname=dbname='${database.replace(/[\\']/g, '\\$&')}'`,
      ...words,
    ],
    context,
    {
      runas: where.runas ?? (!host || host.startsWith('/') ? 'postgres' : undefined),
      timeout: Number((await setting('postgres.timeout', context)) ?? 0),
      env: {
        PGDATESTYLE: 'ISO,MDY',
        PGCLIENTENCODING: 'UTF8',
        ...(password && { PGPASSWORD: password }),
      },
      untrimmed: true,
      ...(input !== undefined && { input, quiet: true }),
    },
  )
}

async function placeOf(where: Where, context: Context) {
  const of = (name: string) => textSetting(`postgres.${name}`, context)
  return {
    user: where.user || (await of('user')),
    host: where.host || (await of('host')),
    port: where.port || (await of('port')),
    database: where.maintenance_db || (await of('maintenance_db')) || 'postgres',
    password: where.password ?? (await of('pass')),
  }
}

/** Return the server's version; '' if it does not answer. */
export async function serverVersion(where: Where, context: Context): Promise<string> {
  const sql = "SELECT setting FROM pg_catalog.pg_settings WHERE name = 'server_version'"
  const { stdout } = await psql(['-c', sql, '-t'], where, context)
  return stdout.split('\n')[0] ?? ''
}
