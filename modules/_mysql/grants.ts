/** Privileges of users of MySQL and MariaDB. */
import { type Context, SaltInvocationError } from 'salt-ts'
import { grantTokens } from './grant-tokens.ts'
import { isPrivilege, privilegesOf8 } from './privilege-names.ts'
import { isAtLeast, type Server, serverOf } from './server.ts'
import { ident, type Session } from './session.ts'
import type { Account } from './users.ts'

export interface Grant extends Account {
  /** Privileges with commas: `SELECT(id), INSERT`. */
  readonly grant: string
  /** `db.*`, `db.table` or `*.*`. */
  readonly database: string
  readonly grant_option: boolean
  readonly escape: boolean
}

interface Privilege {
  readonly name: string
  readonly columns: readonly string[]
}

const ITEM = /\s*([A-Za-z_ ]+?)\s*(?:\(([^()]*)\))?\s*(?:,|$)/gy

/** Read privileges with commas. @throws SaltInvocationError for an unknown one */
export function privilegesIn(text: string): Privilege[] {
  const invalid = new SaltInvocationError(`Invalid grant : '${text}'`)
  const found: Privilege[] = []
  ITEM.lastIndex = 0
  while (ITEM.lastIndex < text.length) {
    const match = ITEM.exec(text)
    if (!match) throw invalid
    const name = match[1]?.replace(/\s+/g, ' ').toUpperCase() ?? ''
    const full = name === 'ALL' ? 'ALL PRIVILEGES' : name
    if (!isPrivilege(full)) throw invalid
    const columns = match[2]?.split(',').map((column) => column.trim().replace(/^`(.*)`$/, '$1')) ?? []
    found.push({ name: full, columns })
  }
  if (found.length === 0) throw invalid
  return found
}

const privilegeSql = ({ name, columns }: Privilege): string =>
  columns.length === 0 ? name : `${name} (${columns.map(ident).join(', ')})`

/** Return a database and a table as GRANT names them. In the name of a database alone, `_` and `%` would match any character. */
function placeSql(database: string, isEscaped: boolean): string {
  const dot = database.lastIndexOf('.')
  const [db, table] = [database.slice(0, Math.max(dot, 0)), database.slice(dot + 1)]
  if (db === '' || table === '')
    throw new SaltInvocationError(`'${database}' is not a place for a grant, such as db.table or db.*`)
  const quoted = (name: string, isPattern = false) => {
    if (name === '*') return name
    const bare = isEscaped ? name : name.replace(/^`(.*)`$/, '$1')
    return ident(isPattern ? bare.replace(/[_%]/g, '\\$&') : bare)
  }
  return `${quoted(db, isEscaped && table === '*')}.${quoted(table)}`
}

const OPTIONS = ['CIPHER', 'ISSUER', 'SUBJECT', 'SSL', 'X509']

/** Return what the user's connection must have: a list of maps such as `{SSL: true}`, `{CIPHER: 'x'}`. */
function requirements(
  options: readonly Readonly<Record<string, unknown>>[],
): [sql: string, values: string[]] {
  const values: string[] = []
  const words = options.flatMap((option) =>
    Object.entries(option).flatMap(([name, value]) => {
      const word = name.trim().toUpperCase()
      if (!OPTIONS.includes(word)) throw new SaltInvocationError(`Invalid SSL option : '${name}'`)
      if (word === 'SSL' || word === 'X509') return value ? [word] : []
      values.push(String(value))
      return [`${word} ?`]
    }),
  )
  return [words.length > 0 ? ` REQUIRE ${words.join(' AND ')}` : '', values]
}

export async function addGrant(
  given: Grant,
  ssl: readonly Readonly<Record<string, unknown>>[],
  session: Session,
): Promise<void> {
  const what = privilegesIn(given.grant).map(privilegeSql).join(', ')
  const [require, values] = requirements(ssl)
  const option = given.grant_option ? ' WITH GRANT OPTION' : ''
  const sql = `GRANT ${what} ON ${placeSql(given.database, given.escape)} TO ?@?${require}${option}`
  await session.run(sql, [given.user, given.host, ...values])
}

export async function revokeGrant(given: Grant, session: Session): Promise<void> {
  const what = [
    ...privilegesIn(given.grant).map(privilegeSql),
    ...(given.grant_option ? ['GRANT OPTION'] : []),
  ]
  const place = placeSql(given.database, given.escape)
  // The option alone is revoked by a statement of its own where all privileges are revoked.
  const statements = what[0] === 'ALL PRIVILEGES' ? what : [what.join(', ')]
  for (const each of statements)
    await session.run(`REVOKE ${each} ON ${place} FROM ?@?`, [given.user, given.host])
}

/** Return the grants of a user as the server shows them, without passwords. */
export async function grantsOf({ user, host }: Account, { run }: Session): Promise<string[]> {
  const { rows } = await run('SHOW GRANTS FOR ?@?', [user, host])
  return rows.map((row) => {
    const text = String(row[0])
    const shown = text.split(' IDENTIFIED BY')[0] ?? ''
    const isLost = text.includes('WITH GRANT OPTION') && !shown.includes('WITH GRANT OPTION')
    return isLost ? `${shown} WITH GRANT OPTION` : shown
  })
}

/** Whether a user has all these privileges at the place. */
export async function hasGrant(given: Grant, session: Session, context: Context): Promise<boolean> {
  const server = await serverOf(session)
  const wanted = wantedTokens(given, server)
  const place = bare(placeSql(given.database, given.escape))
  const shown = (await grantsOf(given, session)).filter((text) => bare(grantTokens(text).database) === place)
  const own = new Set(shown.flatMap((text) => grantTokens(text).grant.map((name) => token(name, server))))
  const mayGrant = shown.some((text) => text.includes('WITH GRANT OPTION'))
  if (wanted.every((name) => own.has(name)) && (mayGrant || !given.grant_option)) return true
  context.log.debug('Grant does not exist, or is perhaps not ordered properly?')
  return false
}

function wantedTokens({ grant, database }: Grant, server: Server): string[] {
  const privileges = privilegesIn(grant)
  const isAll = privileges.some(({ name }) => name === 'ALL PRIVILEGES')
  // MySQL 8 shows all privileges one by one where they are for everything.
  if (isAll && database === '*.*' && !server.isMariaDb && isAtLeast(server, '8.0')) return privilegesOf8
  const names = privileges.flatMap(({ name, columns }) =>
    columns.length === 0 ? [name] : columns.map((column) => `${name}.${column}`),
  )
  return names.map((name) => token(name, server))
}

/** MariaDB's older names of privileges, by the version that shows the newer one. */
const ALIASES: readonly (readonly [version: string, alias: string, name: string])[] = [
  ['10.5.1', 'REPLICATION REPLICA', 'REPLICATION SLAVE'],
  ['10.5.2', 'REPLICATION CLIENT', 'BINLOG MONITOR'],
  ['10.5.9', 'REPLICA MONITOR', 'SLAVE MONITOR'],
]

function token(name: string, server: Server): string {
  const upper = name.replaceAll('`', '').toUpperCase()
  const alias = ALIASES.find(([version, known]) => known === upper && isAtLeast(server, version))
  return server.isMariaDb && alias ? alias[2] : upper
}

const bare = (place: string): string => place.replace(/["\\`]/g, '')
