/** Users and groups, which are both roles of the server. */
import { type Context, p, SaltInvocationError } from 'salt-ts'
import { storedPassword } from './passwords.ts'
import { execute, executeSecretly, query, type Row, serverVersion, text, type Where } from './psql.ts'
import { ident, literal } from './quote.ts'
import { arrayItems, isOlder, timeOf } from './texts.ts'

const flag = p.optional(p.boolean())

/** What a role may do, and its password. */
export const roleParams = {
  createdb: flag,
  createroles: flag,
  inherit: flag,
  login: flag,
  connlimit: p.optional(p.integer()),
  encrypted: p.optional(p.union(p.boolean(), p.string())),
  superuser: flag,
  replication: flag,
  rolepassword: p.secret(p.optional(p.union(p.boolean(), p.string()))),
  valid_until: text,
  groups: p.optional(p.union(p.string(), p.array(p.string()))),
}

export interface RoleOptions {
  readonly createdb?: boolean | undefined
  readonly createroles?: boolean | undefined
  readonly inherit?: boolean | undefined
  readonly login?: boolean | undefined
  readonly connlimit?: number | undefined
  readonly encrypted?: boolean | string | undefined
  readonly superuser?: boolean | undefined
  readonly replication?: boolean | undefined
  readonly rolepassword?: boolean | string | undefined
  readonly valid_until?: string | undefined
  readonly groups?: string | readonly string[] | undefined
}

export interface Role {
  readonly superuser: boolean | null
  readonly [fact: string]: unknown
}

/** Return the roles by name; false if the server does not answer. */
export async function listRoles(
  where: Where,
  context: Context,
  withPasswords = false,
): Promise<Record<string, Role> | false> {
  const version = await serverVersion(where, context)
  if (version === '') {
    context.log.error('Could not retrieve Postgres version. Is Postgresql server running?')
    return false
  }
  const rows = await query(rolesQuery(version, withPasswords), where, context)
  return Object.fromEntries(rows.map((row) => [row.name, roleOf(row, withPasswords)]))
}

const rolesQuery = (version: string, withPasswords: boolean): string => `
SELECT r.rolname AS "name", r.rolsuper AS "superuser", r.rolinherit AS "inherits privileges",
  r.rolcreaterole AS "can create roles", r.rolcreatedb AS "can create databases",
  ${isOlder(version, '9.5') ? 'r.rolcatupdate' : 'NULL'} AS "can update system catalogs",
  r.rolcanlogin AS "can login", ${isOlder(version, '9.1') ? 'NULL' : 'r.rolreplication'} AS "replication",
  r.rolconnlimit AS "connections",
  (SELECT array_agg(g.rolname) FROM pg_catalog.pg_auth_members m
    JOIN pg_catalog.pg_roles g ON m.roleid = g.oid WHERE m.member = r.oid) AS "groups",
  r.rolvaliduntil::timestamp(0) AS "expiry time", r.rolconfig AS "defaults variables"
  ${withPasswords ? ', a.rolpassword AS "password"' : ''}
FROM pg_catalog.pg_roles r ${withPasswords ? 'LEFT JOIN pg_catalog.pg_authid a ON r.oid = a.oid' : ''}`

const FLAGS = [
  'superuser',
  'inherits privileges',
  'can create roles',
  'can create databases',
  'can update system catalogs',
  'can login',
  'replication',
] as const

function roleOf(row: Row, withPassword: boolean): Role {
  const flags = Object.fromEntries(
    FLAGS.map((name) => [name, row[name] === 't' ? true : row[name] === 'f' ? false : null]),
  )
  return {
    ...(flags as Pick<Role, 'superuser'>),
    connections: Number(row.connections),
    'expiry time': timeOf(row['expiry time'] ?? ''),
    'defaults variables': row['defaults variables'],
    ...(withPassword && { password: row.password }),
    groups: arrayItems(row.groups ?? ''),
  }
}

export async function roleExists(name: string, where: Where, context: Context): Promise<boolean> {
  const roles = await listRoles(where, context)
  return roles !== false && Object.hasOwn(roles, name)
}

/** Create a role. False if it exists or the server refuses it. */
export async function createRole(
  name: string,
  type: 'user' | 'group',
  options: RoleOptions,
  where: Where,
  context: Context,
): Promise<boolean> {
  if (await roleExists(name, where, context)) {
    context.log.info(`${type === 'user' ? 'User' : 'Group'} '${name}' already exists`)
    return false
  }
  const full = { ...options, inherit: options.inherit ?? true, login: options.login ?? type === 'user' }
  const sql = await roleStatement('CREATE', name, full, context)
  return (await executeSecretly(sql, where, context)).retcode === 0
}

/** Change a role. False if it does not exist or the server refuses it. */
export async function updateRole(
  name: string,
  options: RoleOptions,
  where: Where,
  context: Context,
): Promise<boolean> {
  const roles = await listRoles(where, context)
  const role = roles && Object.hasOwn(roles, name) ? roles[name] : undefined
  if (role === undefined) {
    context.log.info(`Role '${name}' could not be found`)
    return false
  }
  // Only a superuser may mention this, even if nothing changes.
  const superuser = options.superuser === role.superuser ? undefined : options.superuser
  const sql = await roleStatement('ALTER', name, { ...options, superuser }, context)
  return (await executeSecretly(sql, where, context)).retcode === 0
}

/** Remove a role. False if it does not exist or the server keeps it. */
export async function removeRole(name: string, where: Where, context: Context): Promise<boolean> {
  if (!(await roleExists(name, where, context))) {
    context.log.info(`User '${name}' does not exist`)
    return false
  }
  await execute(`DROP ROLE ${ident(name)}`, where, context)
  const { retcode } = context
  if (!(await roleExists(name, where, context))) return true
  context.retcode = retcode
  context.log.info(`Failed to delete user '${name}'.`)
  return false
}

async function roleStatement(verb: string, name: string, options: RoleOptions, context: Context) {
  const words = [
    onOff('INHERIT', options.inherit),
    onOff('CREATEDB', options.createdb),
    onOff('CREATEROLE', options.createroles),
    onOff('SUPERUSER', options.superuser),
    onOff('REPLICATION', options.replication),
    onOff('LOGIN', options.login),
    options.connlimit === undefined ? [] : [`CONNECTION LIMIT ${options.connlimit}`],
    await passwordWords(name, options, context),
    options.valid_until ? [`VALID UNTIL ${literal(options.valid_until)}`] : [],
  ].flat()
  const groups = typeof options.groups === 'string' ? options.groups.split(',') : (options.groups ?? [])
  return [
    `${verb} ROLE ${ident(name)}${words.length > 0 ? ` WITH ${words.join(' ')}` : ''}`,
    ...groups.filter(Boolean).map((group) => `GRANT ${ident(group)} TO ${ident(name)}`),
  ].join('; ')
}

const onOff = (word: string, on: boolean | undefined): string[] =>
  on === undefined ? [] : [on ? word : `NO${word}`]

async function passwordWords(
  name: string,
  { rolepassword, encrypted = 'md5' }: RoleOptions,
  { log }: Context,
): Promise<string[]> {
  if (rolepassword === undefined || rolepassword === '') return []
  if (rolepassword === false) return ['PASSWORD NULL']
  if (rolepassword === true)
    throw new SaltInvocationError("'rolepassword' is the password, or False for none.")
  return [`PASSWORD ${literal(await storedPassword(name, rolepassword, encrypted, log))}`]
}
