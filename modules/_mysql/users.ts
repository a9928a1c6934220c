/** Users of MySQL and MariaDB, which keep passwords in different ways. */
import { createHash } from 'node:crypto'
import { type Context, SaltInvocationError } from 'salt-ts'
import { NoConnection, type Place } from './connect.ts'
import { isAtLeast, pluginStatus, type Server, serverOf } from './server.ts'
import { ident, onServer, Refused, report, type Session } from './session.ts'

export interface Account {
  readonly user: string
  readonly host: string
}

export interface Login {
  readonly password?: string | undefined
  readonly password_hash?: string | undefined
  /** Whether there may be no password. */
  readonly passwordless: boolean
  readonly unix_socket: boolean
  readonly password_column?: string | undefined
  readonly auth_plugin?: string | undefined
}

type Statement = readonly [sql: string, values: readonly string[]]

/** The first version of each server in which ALTER USER sets a password. */
const altersUsers = (server: Server): boolean => isAtLeast(server, server.isMariaDb ? '10.4' : '8.0.11')
const isMysql8 = (server: Server): boolean => !server.isMariaDb && isAtLeast(server, '8.0.11')
const socketPlugin = ({ isMariaDb }: Server): string => (isMariaDb ? 'unix_socket' : 'auth_socket')

/**
 * Run `work`; false if the server cannot be reached or refuses. If it does not let us in, the password of the user in question is
 * tried, too: it may be our own that has just been changed.
 */
export async function withUsers(
  place: Place,
  password: string | undefined,
  context: Context,
  work: (session: Session, server: Server) => Promise<boolean>,
): Promise<boolean> {
  const full = async (session: Session) => work(session, await serverOf(session))
  try {
    return await onServer(place, context, full).catch((error) => {
      const mayBeOurs = error instanceof NoConnection && error.number === 1045 && password
      if (!mayBeOurs) throw error
      return onServer({ ...place, connection_pass: password }, context, full)
    })
  } catch (error) {
    if (!(error instanceof NoConnection || error instanceof Refused)) throw error
    report(error.message, context)
    return false
  }
}

/** Whether there is a user, and with this login if one is given. */
export async function userExists(
  { user, host }: Account,
  login: Login | undefined,
  session: Session,
  server: Server,
  context: Context,
): Promise<boolean> {
  const [condition, values] = login
    ? await loginCondition({ user, host }, login, session, server, context)
    : (['', []] as const)
  const sql = `SELECT User, Host FROM mysql.user WHERE User = ? AND Host = ?${condition}`
  return (await session.run(sql, [user, host, ...values])).rows.length === 1
}

async function loginCondition(
  account: Account,
  login: Login,
  session: Session,
  server: Server,
  context: Context,
): Promise<Statement> {
  const { password, password_hash, passwordless, unix_socket } = login
  const column = ident(login.password_column ?? (await passwordColumn(session)))
  if (passwordless) {
    return unix_socket ? [' AND plugin = ?', [socketPlugin(server)]] : [` AND ${column} = ''`, []]
  }
  if (!password) return password_hash ? [` AND ${column} = ?`, [password_hash]] : ['', []]
  if (!isMysql8(server)) return [` AND ${column} = PASSWORD(?)`, [password]]
  if ((await authPlugin(account, session)) === 'mysql_native_password')
    return [` AND ${column} = ?`, [nativeHash(password)]]
  report('Unable to verify password.', context)
  return ['', []]
}

/** What the function PASSWORD of older servers returns. */
function nativeHash(password: string): string {
  const once = createHash('sha1').update(password).digest()
  return `*${createHash('sha1').update(once).digest('hex').toUpperCase()}`
}

async function passwordColumn({ run }: Session): Promise<string> {
  const sql = `SELECT column_name FROM information_schema.COLUMNS
    WHERE table_schema = 'mysql' AND table_name = 'user' AND column_name = 'Password'`
  return (await run(sql)).rows.length > 0 ? 'Password' : 'authentication_string'
}

async function authPlugin({ user, host }: Account, { run }: Session): Promise<string> {
  const { rows } = await run('SELECT plugin FROM mysql.user WHERE User = ? AND Host = ?', [user, host])
  return String(rows[0]?.[0] || 'mysql_native_password')
}

const NO_PASSWORD = 'password or password_hash must be specified, unless allow_passwordless=True'
const NOT_LOCAL = 'Auth via unix_socket can be set only for host=localhost'

/** Return whether the socket's plugin can be used for a user; why not is reported. */
async function mayUseSocket(host: string, session: Session, server: Server, context: Context) {
  const plugin = socketPlugin(server)
  const isThere = (await pluginStatus(session, plugin)) !== ''
  if (!isThere) report(`The ${plugin} plugin is not enabled.`, context)
  else if (host !== 'localhost') report(NOT_LOCAL, context)
  return isThere && host === 'localhost'
}

/** Create a user. False if the login is incomplete. */
export async function createUser(
  { user, host }: Account,
  login: Login,
  session: Session,
  server: Server,
  context: Context,
): Promise<boolean> {
  const { password, password_hash, passwordless, unix_socket, auth_plugin = 'mysql_native_password' } = login
  const create = async (how: string, values: readonly string[] = []) => {
    await session.run(`CREATE USER ?@?${how}`, [user, host, ...values])
    return true
  }
  if (unix_socket) {
    if (!(await mayUseSocket(host, session, server, context))) return false
    return create(` IDENTIFIED ${server.isMariaDb ? 'VIA' : 'WITH'} ${socketPlugin(server)}`)
  }
  if (passwordless) return create('')
  const withPlugin = isMysql8(server)
  if (password !== undefined)
    return withPlugin
      ? create(' IDENTIFIED WITH ? BY ?', [auth_plugin, password])
      : create(' IDENTIFIED BY ?', [password])
  if (password_hash !== undefined)
    return withPlugin
      ? create(' IDENTIFIED WITH ? AS ?', [auth_plugin, password_hash])
      : create(' IDENTIFIED BY PASSWORD ?', [password_hash])
  context.log.error(NO_PASSWORD)
  return false
}

/** Change the login of a user. False if it is incomplete, or stays as it was on an old server. */
export async function changeLogin(
  account: Account,
  login: Login,
  session: Session,
  server: Server,
  context: Context,
): Promise<boolean> {
  const { password, password_hash, passwordless, unix_socket } = login
  if (password === undefined && password_hash === undefined && !passwordless) {
    context.log.error(NO_PASSWORD)
    return false
  }
  if (passwordless && unix_socket) {
    if (!(await mayUseSocket(account.host, session, server, context))) return false
    return setSocket(account, session, server)
  }
  const plugin = await authPlugin(account, session)
  const [sql, values] = altersUsers(server)
    ? alterStatement(account, login, plugin, server)
    : updateStatement(account, login, login.password_column ?? (await passwordColumn(session)))
  const { affected } = await session.run(sql, values)
  if (altersUsers(server)) return true
  await session.run('FLUSH PRIVILEGES')
  return affected > 0
}

async function setSocket({ user, host }: Account, session: Session, server: Server): Promise<boolean> {
  const plugin = socketPlugin(server)
  if (altersUsers(server)) {
    await session.run(`ALTER USER ?@? IDENTIFIED ${server.isMariaDb ? 'VIA' : 'WITH'} ${plugin}`, [
      user,
      host,
    ])
    return true
  }
  const sql = 'UPDATE mysql.user SET plugin = ? WHERE User = ? AND Host = ?'
  const { affected } = await session.run(sql, [plugin, user, host])
  await session.run('FLUSH PRIVILEGES')
  return affected > 0
}

function alterStatement(
  { user, host }: Account,
  { password, password_hash }: Login,
  plugin: string,
  { isMariaDb }: Server,
): Statement {
  const secret = password ?? password_hash ?? ''
  if (isMariaDb) {
    const using = password === undefined ? '?' : 'PASSWORD(?)'
    return [`ALTER USER ?@? IDENTIFIED VIA ${pluginName(plugin)} USING ${using}`, [user, host, secret]]
  }
  const by = password === undefined && password_hash !== undefined ? 'AS' : 'BY'
  return [`ALTER USER ?@? IDENTIFIED WITH ? ${by} ?`, [user, host, plugin, secret]]
}

function updateStatement({ user, host }: Account, login: Login, column: string): Statement {
  const { password, password_hash } = login
  const secret = password === undefined ? '?' : 'PASSWORD(?)'
  return [
    `UPDATE mysql.user SET ${ident(column)} = ${secret} WHERE User = ? AND Host = ?`,
    [password ?? password_hash ?? '', user, host],
  ]
}

export function pluginName(name: string): string {
  if (/^[\w-]+$/.test(name)) return ident(name)
  throw new SaltInvocationError(`'${name}' is not the name of a plugin.`)
}
