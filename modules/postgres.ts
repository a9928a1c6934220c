/**
 * Query and manage PostgreSQL servers.
 *
 * The server is that of the settings `postgres.host`, `postgres.port`, `postgres.user`, `postgres.pass` and
 * `postgres.maintenance_db`, unless a call names another. Without a host psql runs as the system's user postgres and connects
 * to the local socket.
 */
import { CommandExecutionError, type Context, fn, p, type Virtual } from 'salt-ts'
import { hasData, initFolder } from './_postgres/datadir.ts'
import {
  availableExtensions,
  createExtension,
  extensionState,
  find,
  installedExtensions,
  isAvailable,
} from './_postgres/extensions.ts'
import { membersOf, privilegesOn, targetOf } from './_postgres/objects.ts'
import { giveTo } from './_postgres/owner.ts'
import { grant, isGranted, revoke } from './_postgres/privileges.ts'
import {
  execute,
  findProgram,
  query,
  type Row,
  runas,
  secret,
  server,
  serverVersion,
  text,
  type Where,
  where,
} from './_postgres/psql.ts'
import { ident, literal, parameterName } from './_postgres/quote.ts'
import { createRole, listRoles, removeRole, roleExists, roleParams, updateRole } from './_postgres/roles.ts'

export const virtual: Virtual = async ({ opts, pillar }) => {
  const bins = opts['postgres.bins_dir'] ?? pillar['postgres.bins_dir']
  return (
    (await findProgram('psql', bins === undefined ? undefined : String(bins))) !== undefined ||
    'psql was not found'
  )
}

const name = p.string()
const flag = p.optional(p.boolean())
const { createdb, createroles, inherit, login, connlimit, encrypted, superuser, replication } = roleParams
const { rolepassword, valid_until, groups } = roleParams
/** The parameters of roles, in the orders in which Salt's functions have them. */
const userRole = {
  createdb,
  createroles,
  inherit,
  login,
  connlimit,
  encrypted,
  superuser,
  replication,
  rolepassword,
  valid_until,
  groups,
}
const updatedUserRole = {
  createdb,
  createroles,
  encrypted,
  superuser,
  inherit,
  login,
  connlimit,
  replication,
  rolepassword,
  valid_until,
  groups,
}
const groupRole = {
  createdb,
  createroles,
  encrypted,
  login,
  inherit,
  superuser,
  replication,
  rolepassword,
  groups,
}
const updatedGroupRole = {
  createdb,
  createroles,
  encrypted,
  inherit,
  login,
  superuser,
  replication,
  rolepassword,
  groups,
}
/** Where a language is, whose database has to be named. */
const database = { maintenance_db: p.string(), user: text, host: text, port: text, password: secret, runas }
/** Where a schema is. `user` is the system's user that psql runs as. */
const schemaPlace = { user: text, db_user: text, db_password: secret, db_host: text, db_port: text }
const granted = { maintenance_db: text, user: text, host: text, port: text, password: secret, runas }
const prepend = p.default(p.string(), 'public')

/**
 * Return the version of the server, null if it does not answer.
 *
 * @example salt '*' postgres.version
 */
export const version = fn(where, async (where, context) => (await serverVersion(where, context)) || null)

/**
 * Return the rows of a query, all values as text, null as an empty one. Other statements than SELECT need `WITH … RETURNING`,
 * and `write` to be allowed in a server that is read-only by default.
 *
 * @example salt '*' postgres.psql_query 'select * from pg_stat_activity'
 */
export const psql_query = fn(
  { query: p.string(), ...where, write: p.default(p.boolean(), false) },
  ({ query: sql, write, ...where }, context) => query(sql, where, context, write),
)

/**
 * Return the databases, with facts about each.
 *
 * @example salt '*' postgres.db_list
 */
export const db_list = fn(where, (where, context) => databases(where, context))

/**
 * True if a database exists.
 *
 * @example salt '*' postgres.db_exists dbname
 */
export const db_exists = fn({ name, ...where }, async ({ name, ...where }, context) =>
  Object.hasOwn(await databases(where, context), name),
)

/**
 * Create a database. False if the server refuses it.
 *
 * @example salt '*' postgres.db_create dbname
 * @example salt '*' postgres.db_create dbname template=template_postgis
 */
export const db_create = fn(
  {
    name,
    ...server,
    tablespace: text,
    encoding: text,
    lc_collate: text,
    lc_ctype: text,
    owner: text,
    template: text,
    runas,
  },
  ({ name, tablespace, encoding, lc_collate, lc_ctype, owner, template, ...where }, context) => {
    const options = [
      ...(tablespace === undefined ? [] : [`TABLESPACE = ${ident(tablespace)}`]),
      ...(owner === undefined ? [] : [`OWNER = ${ident(owner)}`]),
      ...(template === undefined ? [] : [`TEMPLATE = ${ident(template)}`]),
      ...(encoding === undefined ? [] : [`ENCODING = ${literal(encoding)}`]),
      ...(lc_collate === undefined ? [] : [`LC_COLLATE = ${literal(lc_collate)}`]),
      ...(lc_ctype === undefined ? [] : [`LC_CTYPE = ${literal(lc_ctype)}`]),
    ]
    const words = options.length > 0 ? ` WITH ${options.join(' ')}` : ''
    return succeeds(`CREATE DATABASE ${ident(name)}${words}`, where, context)
  },
)

/**
 * Change the tablespace and the owner of a database, with `owner_recurse` also the owner of what is in it.
 *
 * @example salt '*' postgres.db_alter dbname owner=otheruser
 */
export const db_alter = fn(
  { name, ...server, tablespace: text, owner: text, owner_recurse: p.default(p.boolean(), false), runas },
  async ({ name, tablespace, owner, owner_recurse, ...where }, context) => {
    if (owner && owner_recurse && (await giveTo(name, owner, where, context)).retcode !== 0) return false
    const statements = [
      ...(owner && !owner_recurse ? [`ALTER DATABASE ${ident(name)} OWNER TO ${ident(owner)}`] : []),
      ...(tablespace ? [`ALTER DATABASE ${ident(name)} SET TABLESPACE ${ident(tablespace)}`] : []),
    ]
    return allSucceed(statements, where, context)
  },
)

/**
 * Remove a database, and end the connections to it.
 *
 * @example salt '*' postgres.db_remove dbname
 */
export const db_remove = fn({ name, ...where }, async ({ name, ...where }, context) => {
  for (const sql of [
    `REVOKE CONNECT ON DATABASE ${ident(name)} FROM public`,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = ${literal(name)} AND pid <> pg_backend_pid()`,
    `DROP DATABASE ${ident(name)}`,
  ]) {
    const { retcode, stderr } = await execute(sql, where, context)
    if (retcode !== 0)
      throw new CommandExecutionError(`The database '${name}' could not be removed: ${stderr.trimEnd()}`)
  }
  return true
})

/**
 * Return the tablespaces, with facts about each.
 *
 * @example salt '*' postgres.tablespace_list
 */
export const tablespace_list = fn(where, (where, context) => tablespaces(where, context))

/**
 * True if a tablespace exists.
 *
 * @example salt '*' postgres.tablespace_exists tsname
 */
export const tablespace_exists = fn({ name, ...where }, async ({ name, ...where }, context) =>
  Object.hasOwn(await tablespaces(where, context), name),
)

/**
 * Create a tablespace in a folder. False if the server refuses it.
 *
 * @example salt '*' postgres.tablespace_create tablespacename /path/datadir
 */
export const tablespace_create = fn(
  {
    name,
    location: p.string(),
    options: p.optional(p.record(p.string())),
    owner: text,
    ...where,
  },
  ({ name, location, options = {}, owner, ...where }, context) => {
    const sql = [
      `CREATE TABLESPACE ${ident(name)}`,
      ...(owner ? [`OWNER ${ident(owner)}`] : []),
      `LOCATION ${literal(location)}`,
      ...(Object.keys(options).length > 0 ? [`WITH (${assignments(options)})`] : []),
    ]
    return succeeds(sql.join(' '), where, context)
  },
)

/**
 * Change the name, the owner or options of a tablespace.
 *
 * @example salt '*' postgres.tablespace_alter tsname new_owner=otheruser
 * @example salt '*' postgres.tablespace_alter index_space new_name=fast_raid
 * @example salt '*' postgres.tablespace_alter test set_option="{'seq_page_cost': '1.1'}"
 * @example salt '*' postgres.tablespace_alter tsname reset_option=seq_page_cost
 */
export const tablespace_alter = fn(
  {
    name,
    ...server,
    new_name: text,
    new_owner: text,
    set_option: p.optional(p.record(p.string())),
    reset_option: text,
    runas,
  },
  ({ name, new_name, new_owner, set_option, reset_option, ...where }, context) => {
    const alter = `ALTER TABLESPACE ${ident(name)}`
    // The name last, as it is that of the other statements.
    const statements = [
      ...(new_owner ? [`${alter} OWNER TO ${ident(new_owner)}`] : []),
      ...(set_option ? [`${alter} SET (${assignments(set_option)})`] : []),
      ...(reset_option
        ? [`${alter} RESET (${reset_option.split(',').map((each) => parameterName(each.trim()))})`]
        : []),
      ...(new_name ? [`${alter} RENAME TO ${ident(new_name)}`] : []),
    ]
    return allSucceed(statements, where, context)
  },
)

/**
 * Remove a tablespace. False if the server refuses it.
 *
 * @example salt '*' postgres.tablespace_remove tsname
 */
export const tablespace_remove = fn({ name, ...where }, ({ name, ...where }, context) =>
  succeeds(`DROP TABLESPACE ${ident(name)}`, where, context),
)

/**
 * Return the users and groups, with what each may do, and with `return_password` the hashes of their passwords. False if the
 * server does not answer.
 *
 * @example salt '*' postgres.user_list
 */
export const user_list = fn(
  { ...where, return_password: p.default(p.boolean(), false) },
  ({ return_password, ...where }, context) => listRoles(where, context, return_password),
)

/**
 * Return what a user or group may do, null if there is none.
 *
 * @example salt '*' postgres.role_get postgres
 */
export const role_get = fn(
  { name, ...where, return_password: p.default(p.boolean(), false) },
  async ({ name, return_password, ...where }, context) => {
    const roles = await listRoles(where, context, return_password)
    return roles !== false && Object.hasOwn(roles, name) ? roles[name] : null
  },
)

/**
 * True if a user or group exists.
 *
 * @example salt '*' postgres.user_exists username
 */
export const user_exists = fn({ name, ...where }, ({ name, ...where }, context) =>
  roleExists(name, where, context),
)

/**
 * Create a user. False if there is one, or the server refuses it.
 *
 * @example salt '*' postgres.user_create username rolepassword=s3cret valid_until=2030-01-01
 */
export const user_create = fn(
  { username: p.string(), ...server, ...userRole, runas },
  ({ username, user, host, port, maintenance_db, password, runas, ...options }, context) =>
    createRole(username, 'user', options, { user, host, port, maintenance_db, password, runas }, context),
)

/**
 * Change a user. False if there is none, or the server refuses it.
 *
 * @example salt '*' postgres.user_update username rolepassword=s3cret
 */
export const user_update = fn(
  { username: p.string(), ...server, ...updatedUserRole, runas },
  ({ username, user, host, port, maintenance_db, password, runas, ...options }, context) =>
    updateRole(username, options, { user, host, port, maintenance_db, password, runas }, context),
)

/**
 * Remove a user. False if there is none, or the server refuses it.
 *
 * @example salt '*' postgres.user_remove username
 */
export const user_remove = fn({ username: p.string(), ...where }, ({ username, ...where }, context) =>
  removeRole(username, where, context),
)

/**
 * Return the extensions that can be created, with facts about each.
 *
 * @example salt '*' postgres.available_extensions
 */
export const available_extensions = fn(where, (where, context) => availableExtensions(where, context))

/**
 * Return the extensions of the database, with facts about each.
 *
 * @example salt '*' postgres.installed_extensions
 */
export const installed_extensions = fn(where, (where, context) => installedExtensions(where, context))

/**
 * Return facts about an extension that can be created, null if there is none.
 *
 * @example salt '*' postgres.get_available_extension plpgsql
 */
export const get_available_extension = fn(
  { name, ...where },
  async ({ name, ...where }, context) => find(await availableExtensions(where, context), name) ?? null,
)

/**
 * Return facts about an extension of the database, null if there is none.
 *
 * @example salt '*' postgres.get_installed_extension plpgsql
 */
export const get_installed_extension = fn(
  { name, ...where },
  async ({ name, ...where }, context) => find(await installedExtensions(where, context), name) ?? null,
)

/**
 * True if an extension can be created.
 *
 * @example salt '*' postgres.is_available_extension plpgsql
 */
export const is_available_extension = fn({ name, ...where }, ({ name, ...where }, context) =>
  isAvailable(name, where, context),
)

/**
 * True if the database has an extension.
 *
 * @example salt '*' postgres.is_installed_extension plpgsql
 */
export const is_installed_extension = fn({ name, ...where }, ({ name, ...where }, context) =>
  isInstalled(name, where, context),
)

/**
 * Return whether the database has an extension, and what would have to be done to have it in a version and a schema.
 *
 * @example salt '*' postgres.create_metadata adminpack
 */
export const create_metadata = fn(
  { name, ext_version: text, schema: text, ...where },
  ({ name, ext_version, schema, ...where }, context) =>
    extensionState(name, { ext_version, schema }, where, context),
)

/**
 * Remove an extension, by default with all that depends on it. True if the database does not have it then.
 *
 * @example salt '*' postgres.drop_extension adminpack
 */
export const drop_extension = fn(
  { name, if_exists: flag, restrict: flag, cascade: flag, ...where },
  async ({ name, if_exists = false, restrict = false, cascade = !restrict, ...where }, context) => {
    const how = [...(cascade ? ['CASCADE'] : []), ...(restrict ? ['RESTRICT'] : [])]
    const sql = `DROP EXTENSION ${if_exists ? 'IF EXISTS ' : ''}${ident(name)} ${how.join(' ')}`
    if (!(await isInstalled(name, where, context))) return true
    const { retcode } = await execute(sql, where, context)
    if (!(await isInstalled(name, where, context))) return true
    context.retcode = retcode
    context.log.info(`Failed to drop ext: ${name}`)
    return false
  },
)

/**
 * Create an extension, or move and update it. True if it is then as wanted.
 *
 * @example salt '*' postgres.create_extension adminpack
 */
export const create_extension = fn(
  {
    name,
    if_not_exists: flag,
    schema: text,
    ext_version: text,
    from_version: text,
    ...where,
  },
  ({ name, if_not_exists = true, schema, ext_version, from_version, ...where }, context) =>
    createExtension(name, { if_not_exists, schema, ext_version, from_version }, where, context),
)

/**
 * Create a group, a role that cannot log in. False if there is one, or the server refuses it.
 *
 * @example salt '*' postgres.group_create groupname
 */
export const group_create = fn(
  { groupname: p.string(), ...server, ...groupRole, runas },
  ({ groupname, user, host, port, maintenance_db, password, runas, ...options }, context) =>
    createRole(groupname, 'group', options, { user, host, port, maintenance_db, password, runas }, context),
)

/**
 * Change a group. False if there is none, or the server refuses it.
 *
 * @example salt '*' postgres.group_update groupname createdb=True
 */
export const group_update = fn(
  { groupname: p.string(), ...server, ...updatedGroupRole, runas },
  ({ groupname, user, host, port, maintenance_db, password, runas, ...options }, context) =>
    updateRole(groupname, options, { user, host, port, maintenance_db, password, runas }, context),
)

/**
 * Remove a group. False if there is none, or the server refuses it.
 *
 * @example salt '*' postgres.group_remove groupname
 */
export const group_remove = fn({ groupname: p.string(), ...where }, ({ groupname, ...where }, context) =>
  removeRole(groupname, where, context),
)

/**
 * Make a role the owner of a database and of all schemas, tables, views, functions and sequences in it. Returns what psql
 * said.
 *
 * @example salt '*' postgres.owner_to dbname username
 */
export const owner_to = fn(
  { dbname: p.string(), ownername: p.string(), user: text, host: text, port: text, password: secret, runas },
  ({ dbname, ownername, ...where }, context) => giveTo(dbname, ownername, where, context),
)

/**
 * Create a schema. False if there is one, or the server refuses it.
 *
 * @example salt '*' postgres.schema_create dbname name owner=owner
 */
export const schema_create = fn(
  { dbname: p.string(), name, owner: text, ...schemaPlace },
  async ({ dbname, name, owner, ...place }, context) => {
    const where = schemaWhere(dbname, place)
    if (Object.hasOwn(await schemas(where, context), name)) {
      context.log.info(`'${name}' already exists in '${dbname}'`)
      return false
    }
    const as = owner === undefined ? '' : ` AUTHORIZATION ${ident(owner)}`
    return succeeds(`CREATE SCHEMA ${ident(name)}${as}`, where, context)
  },
)

/**
 * Remove an empty schema. False if there is none, or the server refuses it.
 *
 * @example salt '*' postgres.schema_remove dbname schemaname
 */
export const schema_remove = fn(
  { dbname: p.string(), name, ...schemaPlace },
  async ({ dbname, name, ...place }, context) => {
    const where = schemaWhere(dbname, place)
    if (Object.hasOwn(await schemas(where, context), name))
      return succeeds(`DROP SCHEMA ${ident(name)}`, where, context)
    context.log.info(`Schema '${name}' does not exist in '${dbname}'`)
    return false
  },
)

/**
 * True if a database has a schema.
 *
 * @example salt '*' postgres.schema_exists dbname schemaname
 */
export const schema_exists = fn(
  { dbname: p.string(), name, ...schemaPlace },
  async ({ dbname, name, ...place }, context) =>
    Object.hasOwn(await schemas(schemaWhere(dbname, place), context), name),
)

/**
 * Return the owner and the access list of a schema, null if there is none.
 *
 * @example salt '*' postgres.schema_get dbname name
 */
export const schema_get = fn(
  { dbname: p.string(), name, ...schemaPlace },
  async ({ dbname, name, ...place }, context) => {
    const all = await schemas(schemaWhere(dbname, place), context)
    return Object.hasOwn(all, name) ? all[name] : null
  },
)

/**
 * Return the schemas of a database, with owner and access list of each.
 *
 * @example salt '*' postgres.schema_list dbname
 */
export const schema_list = fn({ dbname: p.string(), ...schemaPlace }, ({ dbname, ...place }, context) =>
  schemas(schemaWhere(dbname, place), context),
)

/**
 * Return the languages of a database.
 *
 * @example salt '*' postgres.language_list dbname
 */
export const language_list = fn(database, (where, context) => languages(where, context))

/**
 * True if a database has a language.
 *
 * @example salt '*' postgres.language_exists plpgsql dbname
 */
export const language_exists = fn({ name, ...database }, async ({ name, ...where }, context) =>
  Object.hasOwn(await languages(where, context), name),
)

/**
 * Create a language in a database. False if it has it, or the server refuses it.
 *
 * @example salt '*' postgres.language_create plpgsql dbname
 */
export const language_create = fn({ name, ...database }, async ({ name, ...where }, context) => {
  if (!Object.hasOwn(await languages(where, context), name))
    return succeeds(`CREATE LANGUAGE ${ident(name)}`, where, context)
  context.log.info(`Language ${name} already exists in ${where.maintenance_db}`)
  return false
})

/**
 * Remove a language from a database. False if it does not have it, or the server refuses it.
 *
 * @example salt '*' postgres.language_remove plpgsql dbname
 */
export const language_remove = fn({ name, ...database }, async ({ name, ...where }, context) => {
  if (Object.hasOwn(await languages(where, context), name))
    return succeeds(`DROP LANGUAGE ${ident(name)}`, where, context)
  context.log.info(`Language ${name} does not exist in ${where.maintenance_db}`)
  return false
})

/**
 * Return the privileges of each role on a table, sequence, schema, tablespace, language, database or function, with whether
 * it may grant them; or the members of a group. `prepend` is the schema.
 *
 * @example salt '*' postgres.privileges_list table_name table maintenance_db=db_name
 */
export const privileges_list = fn(
  { name, object_type: p.string(), prepend, ...granted },
  ({ name, object_type, prepend, ...where }, context) => {
    const target = targetOf(object_type, name, prepend)
    return target.type === 'group' ? membersOf(name, where, context) : privilegesOn(target, where, context)
  },
)

/** Privileges of a role on an object. */
const privilege = { name, object_name: p.string(), object_type: p.string(), privileges: text }

/**
 * True if a role has privileges on an object, or owns it; with `grant_option` if it may also grant them.
 *
 * @example salt '*' postgres.has_privileges user_name table_name table SELECT,INSERT maintenance_db=db_name
 */
export const has_privileges = fn(
  {
    ...privilege,
    grant_option: flag,
    prepend,
    ...granted,
  },
  (
    { name: role, object_name, object_type, privileges, grant_option: grantable = false, prepend, ...where },
    context,
  ) => {
    const target = targetOf(object_type, object_name, prepend)
    return isGranted({ role, target, privileges, grantable }, where, context)
  },
)

/**
 * Grant privileges on an object. False if the role has them, or the server refuses it.
 *
 * @example salt '*' postgres.privileges_grant user_name table_name table SELECT,INSERT maintenance_db=db_name
 */
export const privileges_grant = fn(
  {
    ...privilege,
    grant_option: flag,
    prepend,
    ...granted,
  },
  (
    { name: role, object_name, object_type, privileges, grant_option: grantable = false, prepend, ...where },
    context,
  ) => {
    const target = targetOf(object_type, object_name, prepend)
    return grant({ role, target, privileges, grantable }, where, context)
  },
)

/**
 * Revoke privileges on an object. False if the role does not have them, or the server refuses it.
 *
 * @example salt '*' postgres.privileges_revoke user_name table_name table SELECT,INSERT maintenance_db=db_name
 */
export const privileges_revoke = fn(
  {
    ...privilege,
    prepend,
    ...granted,
  },
  ({ name: role, object_name, object_type, privileges, prepend, ...where }, context) => {
    const target = targetOf(object_type, object_name, prepend)
    return revoke({ role, target, privileges, grantable: false }, where, context)
  },
)

/**
 * Create the folder of a server's data. False if it is there, or initdb fails.
 *
 * @example salt '*' postgres.datadir_init /var/lib/pgsql/data
 */
export const datadir_init = fn(
  {
    name,
    auth: p.default(p.string(), 'password'),
    user: text,
    password: secret,
    encoding: p.default(p.string(), 'UTF8'),
    locale: text,
    waldir: text,
    checksums: p.default(p.boolean(), false),
    runas,
  },
  (given, context) => initFolder(given, context),
)

/**
 * True if a folder has a server's data.
 *
 * @example salt '*' postgres.datadir_exists /var/lib/pgsql/data
 */
export const datadir_exists = fn({ name }, ({ name }) => hasData(name))

const succeeds = async (sql: string, where: Where, context: Context): Promise<boolean> =>
  (await execute(sql, where, context)).retcode === 0

/** Run statements until one fails. */
async function allSucceed(statements: readonly string[], where: Where, context: Context): Promise<boolean> {
  for (const sql of statements) if (!(await succeeds(sql, where, context))) return false
  return true
}

/** Return the rows by their column `Name`, without it. */
const byName = (rows: readonly Row[]): Record<string, Row> =>
  Object.fromEntries(rows.map(({ Name = '', ...row }) => [Name, row]))

const databases = async (where: Where, context: Context) =>
  byName(
    await query(
      `SELECT datname AS "Name", pga.rolname AS "Owner", pg_encoding_to_char(encoding) AS "Encoding",
        datcollate AS "Collate", datctype AS "Ctype", datacl AS "Access privileges", spcname AS "Tablespace"
        FROM pg_database pgd, pg_roles pga, pg_tablespace pgts
        WHERE pga.oid = pgd.datdba AND pgts.oid = pgd.dattablespace`,
      where,
      context,
    ),
  )

const tablespaces = async (where: Where, context: Context) =>
  byName(
    await query(
      `SELECT spcname AS "Name", pga.rolname AS "Owner", spcacl AS "ACL", spcoptions AS "Opts",
        pg_tablespace_location(pgts.oid) AS "Location"
        FROM pg_tablespace pgts, pg_roles pga WHERE pga.oid = pgts.spcowner`,
      where,
      context,
    ),
  )

async function languages(where: Where, context: Context): Promise<Record<string, string>> {
  const rows = await query('SELECT lanname AS "Name" FROM pg_language', where, context)
  return Object.fromEntries(rows.map(({ Name = '' }) => [Name, Name]))
}

async function schemas(where: Where, context: Context): Promise<Record<string, Row>> {
  const rows = await query(
    `SELECT n.nspname AS "Name", r.rolname AS "owner", n.nspacl AS "acl"
      FROM pg_namespace n LEFT JOIN pg_roles r ON r.oid = n.nspowner`,
    where,
    context,
  )
  return byName(rows)
}

const schemaWhere = (
  dbname: string,
  given: Readonly<Partial<Record<keyof typeof schemaPlace, string | undefined>>>,
): Where => ({
  user: given.db_user,
  password: given.db_password,
  host: given.db_host,
  port: given.db_port,
  maintenance_db: dbname,
  runas: given.user,
})

const isInstalled = async (name: string, where: Where, context: Context): Promise<boolean> =>
  Object.hasOwn(await installedExtensions(where, context), name)

/** Write options of a tablespace, which are numbers. */
const assignments = (options: Readonly<Record<string, string>>): string =>
  Object.entries(options)
    .map(([name, value]) => `${parameterName(name)} = ${literal(value)}`)
    .join(', ')
