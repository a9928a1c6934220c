/**
 * Query and manage MySQL and MariaDB servers.
 *
 * The server is that of the settings `mysql.host`, `mysql.port`, `mysql.user`, `mysql.pass`, `mysql.unix_socket`, …, or of the file
 * `mysql.default_file`, unless a call names another with `connection_host`, … A server that cannot be reached, or refuses a
 * statement for lack of rights, is logged; the return is then empty.
 */
import { CommandExecutionError, type Context, fn, p } from 'salt-ts'
import { connection, type Place } from './_mysql/connect.ts'
import { grantTokens } from './_mysql/grant-tokens.ts'
import { addGrant, type Grant, grantsOf, hasGrant, privilegesIn, revokeGrant } from './_mysql/grants.ts'
import { fileResult, queryResult } from './_mysql/query.ts'
import { pluginStatus, serverOf } from './_mysql/server.ts'
import { ident, likeText, onServer, type Row, type Session, withMysql } from './_mysql/session.ts'
import {
  type Account,
  changeLogin,
  createUser,
  type Login,
  pluginName,
  userExists,
  withUsers,
} from './_mysql/users.ts'

const name = p.string()
const text = p.optional(p.string())
const flag = p.default(p.boolean(), false)
const account = { user: p.string(), host: p.default(p.string(), 'localhost') }
const secret = p.secret(text)
const logins = { password: secret, password_hash: secret }
const grantParams = {
  grant: p.string(),
  database: p.string(),
  ...account,
  grant_option: flag,
  escape: p.default(p.boolean(), true),
}

/**
 * Run a statement in a database. Returns the rows, with all values as text, or the number of rows that it changed; {} if the
 * server cannot be reached, and false if it refuses.
 *
 * @example salt '*' mysql.query mydb "UPDATE mytable set myfield=1 limit 1"
 * @example salt '*' mysql.query mydb "SELECT id,name,cash from users limit 3"
 */
export const query = fn(
  { database: p.string(), query: p.string(), ...connection },
  ({ database, query, ...place }, context) => queryResult(database, query, place, context),
)

/**
 * Run the statements of a file, which may be on the file server, in a database. Returns the rows and the number of rows that
 * they changed.
 *
 * @example salt '*' mysql.file_query mydb file_name=/tmp/sqlfile.sql
 * @example salt '*' mysql.file_query mydb file_name=salt://sqlfile.sql
 */
export const file_query = fn(
  { database: p.string(), file_name: p.string(), ...connection },
  async ({ database, file_name, ...place }, context) => {
    const isRemote = /^(?:salt|https?|swift|s3):\/\//.test(file_name)
    const path = isRemote ? await context.call('cp.cache_file', [file_name]) : file_name
    if (typeof path === 'string' && path !== '') return fileResult(database, path, place, context)
    context.log.error(`File "${file_name}" does not exist`)
    return false
  },
)

/**
 * Return the counters of the server.
 *
 * @example salt '*' mysql.status
 */
export const status = fn(connection, (place, context) =>
  withMysql(place, context, {}, async ({ run }) => Object.fromEntries((await run('SHOW STATUS')).rows)),
)

/**
 * Return the version of the server.
 *
 * @example salt '*' mysql.version
 */
export const version = fn(connection, (place, context) =>
  withMysql(place, context, '', async (session) => (await serverOf(session)).version),
)

/**
 * Return by how many seconds a replica lags behind. -1: it is no replica, -2: it does not receive, -3: it cannot be reached.
 *
 * @example salt '*' mysql.slave_lag
 */
export const slave_lag = fn(connection, (place, context) =>
  withMysql(place, context, -3, async (session) => {
    const [found] = await replicaStatus(session)
    if (!found) return -1
    const isReceiving = (found.Slave_IO_Running ?? found.Replica_IO_Running) === 'Yes'
    return isReceiving ? (found.Seconds_Behind_Master ?? found.Seconds_Behind_Source ?? null) : -2
  }),
)

/**
 * Free a replica from its master. Returns `promoted` or `failed`.
 *
 * @example salt '*' mysql.free_slave
 */
export const free_slave = fn(connection, (place, context) =>
  withMysql(place, context, '', async (session) => {
    const [found] = await replicaStatus(session)
    if (!found) throw new CommandExecutionError('This server is not a replica.')
    const master = String(found.Master_Host ?? found.Source_Host)
    // The master may be gone, which is why this one is promoted.
    await withMysql({ ...place, connection_host: master }, context, undefined, ({ run }) => run('flush logs'))
    await session.run('stop slave')
    await session.run('reset slave all')
    return (await replicaStatus(session)).length === 0 ? 'promoted' : 'failed'
  }),
)

/**
 * List the databases.
 *
 * @example salt '*' mysql.db_list
 */
export const db_list = fn(connection, (place, context) =>
  withMysql(place, context, [], async ({ run }) => firsts((await run('SHOW DATABASES')).rows)),
)

/**
 * Change the character set and the collation of a database.
 *
 * @example salt '*' mysql.alter_db testdb character_set=latin1
 */
export const alter_db = fn(
  { name, character_set: text, collate: text, ...connection },
  ({ name, character_set, collate, ...place }, context) =>
    withMysql(place, context, false, async (session) => {
      const words = [
        ...(character_set === undefined ? [] : ['CHARACTER SET ?']),
        ...(collate === undefined ? [] : ['COLLATE ?']),
      ]
      if (!(await databaseExists(name, session))) return false
      if (words.length > 0)
        await session.run(
          `ALTER DATABASE ${ident(name)} ${words.join(' ')}`,
          [character_set, collate].filter((value) => value !== undefined),
        )
      return true
    }),
)

/**
 * Return the character set and the collation of a database, {} if there is none.
 *
 * @example salt '*' mysql.db_get test
 */
export const db_get = fn({ name, ...connection }, ({ name, ...place }, context) =>
  withMysql(place, context, [], async ({ rows }) => {
    const sql = `SELECT DEFAULT_CHARACTER_SET_NAME AS character_set, DEFAULT_COLLATION_NAME AS collate_name
      FROM INFORMATION_SCHEMA.SCHEMATA WHERE SCHEMA_NAME = ?`
    const [found] = await rows(sql, [name])
    return found ? { character_set: found.character_set, collate: found.collate_name } : {}
  }),
)

/**
 * List the tables of a database. False if there is none.
 *
 * @example salt '*' mysql.db_tables database
 */
export const db_tables = fn({ name, ...connection }, ({ name, ...place }, context) =>
  withMysql(place, context, false, (session) => tablesOf(name, session, context)),
)

/**
 * True if a database exists.
 *
 * @example salt '*' mysql.db_exists dbname
 */
export const db_exists = fn({ name, ...connection }, ({ name, ...place }, context) =>
  withMysql(place, context, false, (session) => databaseExists(name, session)),
)

/**
 * Create a database. False if there is one.
 *
 * @example salt '*' mysql.db_create dbname
 * @example salt '*' mysql.db_create dbname utf8 utf8_general_ci
 */
export const db_create = fn(
  { name, character_set: text, collate: text, ...connection },
  ({ name, character_set, collate, ...place }, context) =>
    withMysql(place, context, false, async (session) => {
      if (await databaseExists(name, session)) {
        context.log.info(`DB '${name}' already exists`)
        return false
      }
      const charset = character_set === undefined ? '' : ' CHARACTER SET ?'
      const options = `${charset}${collate === undefined ? '' : ' COLLATE ?'}`
      const values = [character_set, collate].filter((value) => value !== undefined)
      await session.run(`CREATE DATABASE IF NOT EXISTS ${ident(name)}${options}`, values)
      return true
    }),
)

/**
 * Remove a database. False if there is none, and for the server's own.
 *
 * @example salt '*' mysql.db_remove dbname
 */
export const db_remove = fn({ name, ...connection }, ({ name, ...place }, context) =>
  withMysql(place, context, false, async (session) => {
    if (!(await databaseExists(name, session))) {
      context.log.info(`DB '${name}' does not exist`)
      return false
    }
    if (['mysql', 'information_schema', 'performance_schema', 'sys'].includes(name.toLowerCase())) {
      context.log.info(`DB '${name}' may not be removed`)
      return false
    }
    await session.run(`DROP DATABASE ${ident(name)}`)
    return !(await databaseExists(name, session))
  }),
)

/**
 * List the users, each with its host.
 *
 * @example salt '*' mysql.user_list
 */
export const user_list = fn(connection, (place, context) =>
  withMysql(place, context, [], ({ rows }) => rows('SELECT User, Host FROM mysql.user')),
)

/**
 * True if a user exists, and with this password or hash if one is given, or without any with `passwordless`.
 *
 * @example salt '*' mysql.user_exists username hostname password
 * @example salt '*' mysql.user_exists username hostname password_hash=hash
 * @example salt '*' mysql.user_exists username passwordless=True
 * @example salt '*' mysql.user_exists username password_column=authentication_string
 */
export const user_exists = fn(
  { ...account, ...logins, passwordless: flag, unix_socket: flag, password_column: text, ...connection },
  (
    { user, host, password, password_hash, passwordless, unix_socket, password_column, ...place },
    context,
  ) => {
    const login = { password, password_hash, passwordless, unix_socket, password_column }
    return withUsers(place, password, context, (session, server) =>
      userExists({ user, host }, login, session, server, context),
    )
  },
)

/**
 * Return what the server keeps about a user, null if there is none.
 *
 * @example salt '*' mysql.user_info root localhost
 */
export const user_info = fn({ ...account, ...connection }, ({ user, host, ...place }, context) =>
  withMysql(place, context, false, async ({ rows }) => {
    const sql = 'SELECT * FROM mysql.user WHERE User = ? AND Host = ?'
    return (await rows(sql, [user, host]))[0] ?? null
  }),
)

/**
 * Create a user. False if there is one, or a password is missing.
 *
 * @example salt '*' mysql.user_create username hostname password
 * @example salt '*' mysql.user_create username hostname password_hash=hash
 * @example salt '*' mysql.user_create username hostname allow_passwordless=True
 */
export const user_create = fn(
  {
    ...account,
    ...logins,
    allow_passwordless: flag,
    unix_socket: flag,
    password_column: text,
    auth_plugin: p.default(p.string(), 'mysql_native_password'),
    ...connection,
  },
  ({ user, host, password, password_hash, allow_passwordless, unix_socket, ...more }, context) => {
    const { password_column, auth_plugin, ...place } = more
    const given = { password, password_hash, unix_socket, password_column, auth_plugin }
    return withUsers(place, password, context, async (session, server) => {
      const who = { user, host }
      if (await userExists(who, undefined, session, server, context)) {
        context.log.info(`User '${user}'@'${host}' already exists`)
        return false
      }
      const login = { ...given, passwordless: allow_passwordless }
      if (!(await createUser(who, login, session, server, context))) return false
      const check = { password, password_hash, passwordless: false, unix_socket: false, password_column }
      return userExists(who, check, session, server, context)
    })
  },
)

/**
 * Change the password of a user. False if there is none.
 *
 * @example salt '*' mysql.user_chpass frank localhost newpassword
 * @example salt '*' mysql.user_chpass frank localhost password_hash=hash
 * @example salt '*' mysql.user_chpass frank localhost allow_passwordless=True
 */
export const user_chpass = fn(
  {
    ...account,
    ...logins,
    allow_passwordless: flag,
    unix_socket: flag,
    password_column: text,
    ...connection,
  },
  (
    { user, host, password, password_hash, allow_passwordless, unix_socket, password_column, ...place },
    context,
  ) => {
    const login: Login = {
      password,
      password_hash,
      unix_socket,
      password_column,
      passwordless: allow_passwordless,
    }
    return withUsers(place, password, context, async (session, server) => {
      if (await userExists({ user, host }, undefined, session, server, context))
        return changeLogin({ user, host }, login, session, server, context)
      context.log.info(`User '${user}'@'${host}' does not exist`)
      return false
    })
  },
)

/**
 * Remove a user. False if there is none.
 *
 * @example salt '*' mysql.user_remove frank localhost
 */
export const user_remove = fn({ ...account, ...connection }, ({ user, host, ...place }, context) =>
  withUsers(place, undefined, context, async (session, server) => {
    if (!(await userExists({ user, host }, undefined, session, server, context))) {
      context.log.info(`User '${user}'@'${host}' does not exist`)
      return false
    }
    await session.run('DROP USER ?@?', [user, host])
    return !(await userExists({ user, host }, undefined, session, server, context))
  }),
)

/**
 * Return the parts of a GRANT statement.
 *
 * @example salt '*' mysql.tokenize_grant "GRANT SELECT, INSERT ON testdb.* TO 'testuser'@'localhost'"
 */
export const tokenize_grant = fn({ grant: p.string() }, ({ grant }) => grantTokens(grant))

/**
 * Return a name as Salt's own statements have it, quoted and with `%` doubled; with `for_grants` also `_` escaped.
 *
 * @example salt '*' mysql.quote_identifier 'foo`bar'
 */
export const quote_identifier = fn(
  { identifier: p.string(), for_grants: flag },
  ({ identifier, for_grants }) =>
    ident(for_grants ? identifier.replaceAll('_', '\\_') : identifier).replaceAll('%', '%%'),
)

/**
 * Check a table, or all tables of a database. Returns the server's report; for all tables a list of reports.
 *
 * @example salt '*' mysql.db_check dbname
 * @example salt '*' mysql.db_check dbname dbtable
 */
export const db_check = fn({ name, table: text, ...connection }, ({ name, table, ...place }, context) =>
  maintain('CHECK', name, table, place, context),
)

/**
 * Repair a table, or all tables of a database. Returns the server's report; for all tables a list of reports.
 *
 * @example salt '*' mysql.db_repair dbname
 * @example salt '*' mysql.db_repair dbname dbtable
 */
export const db_repair = fn({ name, table: text, ...connection }, ({ name, table, ...place }, context) =>
  maintain('REPAIR', name, table, place, context),
)

/**
 * Optimize a table, or all tables of a database. Returns the server's report; for all tables a list of reports.
 *
 * @example salt '*' mysql.db_optimize dbname
 * @example salt '*' mysql.db_optimize dbname dbtable
 */
export const db_optimize = fn({ name, table: text, ...connection }, ({ name, table, ...place }, context) =>
  maintain('OPTIMIZE', name, table, place, context),
)

/**
 * List the grants of a user as statements, without passwords. False if there is no such user.
 *
 * @example salt '*' mysql.user_grants frank localhost
 */
export const user_grants = fn({ ...account, ...connection }, ({ user, host, ...place }, context) =>
  withMysql(place, context, false, (session) => existingGrants({ user, host }, session, context)),
)

/**
 * True if a user has privileges on a database (`db.*`), a table (`db.table`) or everything (`*.*`).
 *
 * @example salt '*' mysql.grant_exists 'SELECT,INSERT,UPDATE' 'database.*' frank localhost
 */
export const grant_exists = fn(
  { ...grantParams, ...connection },
  ({ grant, database, user, host, grant_option, escape: isEscaped, ...place }, context) => {
    const given = { grant, database, user, host, grant_option, escape: isEscaped }
    return withGrant(
      given,
      place,
      context,
      async (session) =>
        (await existingGrants(given, session, context)) !== false && hasGrant(given, session, context),
    )
  },
)

/**
 * Grant privileges on a database (`db.*`), a table (`db.table`) or everything (`*.*`).
 *
 * @example salt '*' mysql.grant_add 'SELECT,INSERT,UPDATE' 'database.*' frank localhost
 */
export const grant_add = fn(
  {
    ...grantParams,
    ssl_option: p.default(p.union(p.boolean(), p.array(p.record(p.any()))), false),
    ...connection,
  },
  ({ grant, database, user, host, grant_option, escape: isEscaped, ssl_option, ...place }, context) => {
    const given = { grant, database, user, host, grant_option, escape: isEscaped }
    return withGrant(given, place, context, async (session) => {
      await addGrant(given, Array.isArray(ssl_option) ? ssl_option : [], session)
      return hasGrant(given, session, context)
    })
  },
)

/**
 * Revoke privileges on a database (`db.*`), a table (`db.table`) or everything (`*.*`).
 *
 * @example salt '*' mysql.grant_revoke 'SELECT,INSERT,UPDATE' 'database.*' frank localhost
 */
export const grant_revoke = fn(
  { ...grantParams, ...connection },
  ({ grant, database, user, host, grant_option, escape: isEscaped, ...place }, context) => {
    const given = { grant, database, user, host, grant_option, escape: isEscaped }
    return withGrant(given, place, context, async (session) => {
      await revokeGrant(given, session)
      return !(await hasGrant({ ...given, grant_option: false }, session, context))
    })
  },
)

/**
 * List the connections of the server, and what each does.
 *
 * @example salt '*' mysql.processlist
 */
export const processlist = fn(connection, (place, context) =>
  withMysql(place, context, [], ({ rows }) => rows('SHOW FULL PROCESSLIST')),
)

/**
 * Return the position in the log of a master, [] if the server is none.
 *
 * @example salt '*' mysql.get_master_status
 */
export const get_master_status = fn(connection, (place, context) =>
  withMysql(place, context, [], async ({ rows }) => {
    const found = await rows('SHOW MASTER STATUS')
      .catch(() => rows('SHOW BINARY LOG STATUS'))
      .catch(() => [])
    return found[0] ?? []
  }),
)

/**
 * Return the state of a replica, [] if the server is none.
 *
 * @example salt '*' mysql.get_slave_status
 */
export const get_slave_status = fn(connection, (place, context) =>
  withMysql(place, context, [], async (session) => (await replicaStatus(session))[0] ?? []),
)

/**
 * List the variables of a session with their values.
 *
 * @example salt '*' mysql.showvariables
 */
export const showvariables = fn(connection, (place, context) =>
  withMysql(place, context, [], ({ rows }) => rows('SHOW VARIABLES')),
)

/**
 * List the variables of the server with their values.
 *
 * @example salt '*' mysql.showglobal
 */
export const showglobal = fn(connection, (place, context) =>
  withMysql(place, context, [], ({ rows }) => rows('SHOW GLOBAL VARIABLES')),
)

/**
 * True if a user can log in with a password.
 *
 * @example salt '*' mysql.verify_login root password
 */
export const verify_login = fn(
  { user: p.string(), password: secret, ...connection },
  ({ user, password, ...place }, context) =>
    onServer(
      { ...place, connection_user: user, connection_pass: password ?? '' },
      context,
      async () => true,
    ).catch((error: Error) => {
      if (error instanceof CommandExecutionError) throw error
      context.log.error(error.message)
      return false
    }),
)

/**
 * List the plugins of the server, with the state of each.
 *
 * @example salt '*' mysql.plugins_list
 */
export const plugins_list = fn(connection, (place, context) =>
  withMysql(place, context, [], async ({ run }) =>
    (await run('SHOW PLUGINS')).rows.map(([name, status]) => ({ name, status })),
  ),
)

/**
 * Install a plugin, by default from the library of its name. True if it is installed.
 *
 * @example salt '*' mysql.plugin_add auth_socket
 */
export const plugin_add = fn({ name, soname: text, ...connection }, ({ name, soname, ...place }, context) =>
  withPlugin(name, place, context, async (session) => {
    if ((await pluginStatus(session, name)) !== '') {
      context.log.error(`Plugin ${name} is already installed.`)
      return true
    }
    await session.run(`INSTALL PLUGIN ${pluginName(name)} SONAME ?`, [soname || `${name}.so`])
    return true
  }),
)

/**
 * Remove a plugin. True if it is not installed.
 *
 * @example salt '*' mysql.plugin_remove auth_socket
 */
export const plugin_remove = fn({ name, ...connection }, ({ name, ...place }, context) =>
  withPlugin(name, place, context, async (session) => {
    if ((await pluginStatus(session, name)) !== '') await session.run(`UNINSTALL PLUGIN ${pluginName(name)}`)
    else context.log.error(`Plugin ${name} is not installed.`)
    return true
  }),
)

/**
 * Return the state of a plugin, '' if there is none.
 *
 * @example salt '*' mysql.plugin_status auth_socket
 */
export const plugin_status = fn({ name, ...connection }, ({ name, ...place }, context) => {
  if (name !== '') return withMysql(place, context, '', (session) => pluginStatus(session, name))
  context.log.error('Plugin name is required.')
  return false
})

const firsts = (rows: readonly (readonly unknown[])[]): unknown[] => rows.map(([first]) => first)

async function databaseExists(name: string, { run }: Session): Promise<boolean> {
  return (await run('SHOW DATABASES LIKE ?', [likeText(name)])).rows.length === 1
}

async function tablesOf(name: string, session: Session, context: Context): Promise<string[] | false> {
  if (await databaseExists(name, session))
    return firsts((await session.run(`SHOW TABLES IN ${ident(name)}`)).rows).map(String)
  context.log.info(`Database '${name}' does not exist`)
  return false
}

/** Newer versions of MySQL have another word for it. */
const replicaStatus = ({ rows }: Session): Promise<Row[]> =>
  rows('SHOW SLAVE STATUS')
    .catch(() => rows('SHOW REPLICA STATUS'))
    .catch(() => [])

async function maintain(
  verb: 'CHECK' | 'REPAIR' | 'OPTIMIZE',
  name: string,
  table: string | undefined,
  place: Place,
  context: Context,
): Promise<unknown> {
  return withMysql(place, context, table === undefined ? [] : {}, async (session) => {
    const one = (each: string) => session.rows(`${verb} TABLE ${ident(name)}.${ident(each)}`)
    if (table !== undefined) return one(table)
    const reports: Row[][] = []
    for (const each of (await tablesOf(name, session, context)) || []) reports.push(await one(each))
    return reports
  })
}

async function existingGrants(
  account: Account,
  session: Session,
  context: Context,
): Promise<string[] | false> {
  const sql = 'SELECT User FROM mysql.user WHERE User = ? AND Host = ?'
  if ((await session.run(sql, [account.user, account.host])).rows.length === 1)
    return grantsOf(account, session)
  context.log.info(`User '${account.user}'@'${account.host}' does not exist`)
  return false
}

/** Run `work` with a grant; false if it is malformed, or the server refuses it for whatever reason. */
async function withGrant(
  { grant }: Grant,
  place: Place,
  context: Context,
  work: (session: Session) => Promise<boolean>,
): Promise<boolean> {
  try {
    privilegesIn(grant)
    return await withMysql(place, context, false, work)
  } catch (error) {
    context.log.error(`Error during grant generation: ${(error as Error).message}`)
    return false
  }
}

async function withPlugin(
  name: string,
  place: Place,
  context: Context,
  work: (session: Session) => Promise<boolean>,
): Promise<boolean> {
  if (name !== '') return withMysql(place, context, false, work)
  context.log.error('Plugin name is required.')
  return false
}
