/**
 * Query and manage MongoDB servers.
 *
 * The server is that of the settings `mongodb.host`, `mongodb.port`, `mongodb.user` and `mongodb.password`, unless a call names
 * another. A server that cannot be reached, or refuses, makes the job fail, and the return says why.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Collection, Db, MongoClient } from 'mongodb'
import { type Context, fn, p } from 'salt-ts'
import { authdb, database, login, onServer, type Place } from './_mongodb/server.ts'
import { fieldsOf, parsed, plain } from './_mongodb/values.ts'

const name = p.string()
const collection = p.string()
const ofServer = { ...login, authdb }
const ofDatabase = { ...login, database, authdb }
const documents = p.any({ description: 'A document, or a list of them, or such JSON.' })
const roles = p.any({ description: 'A list of names, or of maps with `role` and `db`, or such JSON.' })

/**
 * List the databases.
 *
 * @example salt '*' mongodb.db_list host=db1
 */
export const db_list = fn(ofServer, (place, context) => databasesOf(place, context))

/**
 * Whether a database exists.
 *
 * @example salt '*' mongodb.db_exists mydb
 */
export const db_exists = fn(
  { name, ...ofServer },
  async ({ name, ...place }, context) => {
    const found = await databasesOf(place, context)
    return typeof found !== 'string' && found.includes(name)
  },
  { returns: p.boolean() },
)

/**
 * Remove a database, and return true.
 *
 * @example salt '*' mongodb.db_remove mydb
 */
export const db_remove = fn({ name, ...ofServer }, ({ name, ...place }, context) =>
  ask(place, context, (_, client) => client.db(name).dropDatabase()),
)

/**
 * Return the version of the server.
 *
 * @example salt '*' mongodb.version
 */
export const version = fn(ofDatabase, async (place, context) => {
  const outcome = await onServer(signedIn(place), context, (db) => db.command({ buildInfo: 1 }))
  if (outcome.isOk) return String(outcome.value.version)
  return outcome.isConnected ? outcome.error : [false, noServer(outcome.address)]
})

/**
 * Return what the server knows of a user, as a list.
 *
 * @example salt '*' mongodb.user_find johndoe database=mydb
 */
export const user_find = fn({ name, ...ofDatabase }, async ({ name, ...place }, context) => {
  const outcome = await onServer(signedIn(place), context, (db) => db.command({ usersInfo: name }))
  if (outcome.isOk) return plain(outcome.value.users)
  return [false, outcome.isConnected ? outcome.error : noServer(outcome.address)]
})

/**
 * List the users of a database, each with `user` and `roles`.
 *
 * @example salt '*' mongodb.user_list database=mydb
 */
export const user_list = fn(ofDatabase, (place, context) => usersOf(place, context))

/**
 * Whether a database has a user.
 *
 * @example salt '*' mongodb.user_exists johndoe database=mydb
 */
export const user_exists = fn({ name, ...ofDatabase }, async ({ name, ...place }, context) => {
  const users = await usersOf(place, context)
  return typeof users === 'string' ? NO_USERS : users.some(({ user }) => user === name)
})

/**
 * Make a user with roles, which are names. False if the server refuses.
 *
 * @example salt '*' mongodb.user_create johndoe 'secret' database=mydb roles='["readWrite"]'
 */
export const user_create = fn(
  {
    name,
    passwd: p.secret(p.string()),
    ...ofDatabase,
    roles: p.optional(p.array(p.string())),
  },
  ({ name, passwd, roles = [], ...place }, context) =>
    change(place, context, {
      createUser: name,
      pwd: passwd,
      roles: roles.map((role) => ({ role, db: place.database })),
    }),
)

/**
 * Remove a user of a database. False if the server refuses.
 *
 * @example salt '*' mongodb.user_remove johndoe database=mydb
 */
export const user_remove = fn({ name, ...ofDatabase }, ({ name, ...place }, context) =>
  change(place, context, { dropUser: name }),
)

/**
 * Whether a user of a database has all of these roles. A role that is a name is one of that database.
 *
 * @example salt '*' mongodb.user_roles_exists johndoe '["readWrite"]' mydb
 * @example salt '*' mongodb.user_roles_exists johndoe '[{"role": "readWrite", "db": "mydb"}]' mydb
 */
export const user_roles_exists = fn(
  { name, roles, database: p.string(), ...login, authdb },
  async ({ name, roles, ...place }, context) => {
    const wanted = rolesIn(roles, context)
    if (typeof wanted === 'string') return wanted
    const users = await usersOf(place, context)
    if (typeof users === 'string') return NO_USERS
    const known = users.find(({ user }) => user === name)
    const has = (role: unknown) => known?.roles.some((one) => isDeepStrictEqual(one, role))
    return known !== undefined && wanted.map((role) => fullRole(role, place.database)).every(has)
  },
)

/**
 * Grant roles to a user of a database, and return true.
 *
 * @example salt '*' mongodb.user_grant_roles johndoe '["readWrite"]' mydb
 * @example salt '*' mongodb.user_grant_roles janedoe '[{"role": "read", "db": "otherdb"}]' mydb
 */
export const user_grant_roles = fn(
  { name, roles, database: p.string(), ...login, authdb },
  ({ name, roles, ...place }, context) => changeRoles('grantRolesToUser', name, roles, place, context),
)

/**
 * Take roles from a user of a database, and return true.
 *
 * @example salt '*' mongodb.user_revoke_roles johndoe '["readWrite"]' mydb
 */
export const user_revoke_roles = fn(
  { name, roles, database: p.string(), ...login, authdb },
  ({ name, roles, ...place }, context) => changeRoles('revokeRolesFromUser', name, roles, place, context),
)

/**
 * Make a collection, and return true.
 *
 * @example salt '*' mongodb.collection_create mycollection database=mydb
 */
export const collection_create = fn({ collection, ...ofDatabase }, ({ collection, ...place }, context) =>
  ask(place, context, async (db) => {
    await db.createCollection(collection)
    return true
  }),
)

/**
 * Remove a collection, and return true.
 *
 * @example salt '*' mongodb.collection_drop mycollection database=mydb
 */
export const collection_drop = fn({ collection, ...ofDatabase }, ({ collection, ...place }, context) =>
  ask(place, context, async (db) => {
    await db.dropCollection(collection)
    return true
  }),
)

/**
 * List the collections of a database.
 *
 * @example salt '*' mongodb.collections_list database=mydb
 */
export const collections_list = fn(ofDatabase, (place, context) =>
  ask(place, context, async (db) =>
    (await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name),
  ),
)

/**
 * Insert documents, and return true.
 *
 * @example salt '*' mongodb.insert '[{"foo": "FOO", "bar": "BAR"}, {"foo": "BAZ", "bar": "BAM"}]' mycollection database=mydb
 */
export const insert = fn(
  { objects: documents, collection, ...ofDatabase },
  ({ objects, ...place }, context) =>
    withParsed(objects, context, (value) =>
      inCollection(place, context, async (found) => {
        const { acknowledged } = await found.insertMany([value].flat().map(fieldsOf))
        return acknowledged
      }),
    ),
)

/**
 * Set fields of the one document that a filter finds, and return how many were updated, as text. `objects` is the filter and the
 * fields, as JSON, with white space between.
 *
 * @example salt '*' mongodb.update_one '{"_id": "my_minion"} {"bar": "BAR"}' mycollection database=mydb
 */
export const update_one = fn(
  { objects: p.any(), collection, ...ofDatabase },
  async ({ objects, ...place }, context) => {
    const [filter, fields, ...rest] = String(objects).split(/\}\s+\{/)
    if (filter === undefined || fields === undefined || rest.length > 0)
      return fail('Your request does not contain a valid \'{_"id": "my_id"} {"my_doc": "my_val"}\'', context)
    return withParsed(`${filter}}`, context, (wanted) =>
      withParsed(`{${fields}`, context, (changed) =>
        inCollection(place, context, (found) => updateOne(found, wanted, changed, context)),
      ),
    )
  },
)

/**
 * Return the documents that a filter finds, or each of a list of filters. Without one all are returned. Ids of MongoDB are
 * hexadecimal text.
 *
 * @example salt '*' mongodb.find mycollection '[{"foo": "FOO", "bar": "BAR"}]' database=mydb
 */
export const find = fn(
  { collection, query: p.optional(documents), ...ofDatabase },
  ({ query, ...place }, context) =>
    withParsed(query, context, (value) =>
      inCollection(place, context, async (found) => {
        const all: unknown[] = []
        for (const filter of [value].flat())
          for await (const document of found.find(fieldsOf(filter ?? {}))) all.push(plain(document))
        return all
      }),
    ),
)

/**
 * Remove up to `w` documents that a filter finds, or each of a list of filters, and return how many were removed, as text.
 *
 * @example salt '*' mongodb.remove mycollection '[{"foo": "FOO", "bar": "BAR"}, {"foo": "BAZ", "bar": "BAM"}]' database=mydb
 */
export const remove = fn(
  {
    collection,
    query: p.optional(documents),
    ...login,
    database,
    w: p.default(p.integer({ minimum: 0 }), 1),
    authdb,
  },
  ({ query, w, ...place }, context) =>
    withParsed(query, context, (value) =>
      inCollection(place, context, async (found) => {
        let removed = 0
        for (const filter of [value].flat())
          for (let count = 0; count < w; count++)
            removed += (await found.deleteOne(fieldsOf(filter))).deletedCount
        return `${removed} objects removed`
      }),
    ),
)

/** What Salt returns if the users cannot be listed. */
const NO_USERS = 'Failed to connect to mongo database'

const noServer = (address: string): string => `Failed to connect to MongoDB database ${address}`

/** Users are known to `admin`, unless the caller says otherwise. */
const signedIn = <T extends Place>(place: T): T => ({ ...place, authdb: place.authdb || 'admin' })

/** Run `work` and return its value, or the sentence why there is none. */
async function ask<T>(
  place: Place,
  context: Context,
  work: (database: Db, client: MongoClient) => Promise<T>,
): Promise<T | string> {
  const outcome = await onServer(place, context, work)
  return outcome.isOk ? outcome.value : outcome.error
}

const databasesOf = (place: Place, context: Context) =>
  ask(place, context, async (db) =>
    (await db.admin().listDatabases({ nameOnly: true })).databases.map(({ name }) => name),
  )

interface User {
  readonly user: string
  readonly roles: readonly unknown[]
}

const usersOf = (place: Place, context: Context): Promise<User[] | string> =>
  ask(signedIn(place), context, async (db) => {
    const { users } = await db.command({ usersInfo: 1 })
    return (users as User[]).map(({ user, roles }) => ({ user, roles }))
  })

/** Run a command that changes users. False if the server refuses it. */
async function change(place: Place, context: Context, command: Record<string, unknown>) {
  const outcome = await onServer(signedIn(place), context, (db) => db.command(command))
  return outcome.isOk || (outcome.isConnected ? false : outcome.error)
}

async function changeRoles(command: string, user: string, roles: unknown, place: Place, context: Context) {
  const wanted = rolesIn(roles, context)
  if (typeof wanted === 'string') return wanted
  return ask(signedIn(place), context, async (db) => {
    await db.command({ [command]: user, roles: wanted })
    return true
  })
}

/** Return the roles, or the sentence that they are none. */
function rolesIn(given: unknown, context: Context): unknown[] | string {
  try {
    const roles = parsed(given)
    if (Array.isArray(roles)) return roles.map((role) => (typeof role === 'string' ? role : fieldsOf(role)))
  } catch {
    // It is no JSON.
  }
  return fail('Roles provided in wrong format', context)
}

const fullRole = (role: unknown, db: string): unknown => (typeof role === 'string' ? { role, db } : role)

/** Return a text that says what is wrong, and let the job fail. */
function fail(reason: string, context: Context): string {
  context.log.error(reason)
  context.retcode = 1
  return reason
}

/** Call `work` with a value that may be JSON, or return the sentence why it cannot be read. */
async function withParsed<T>(
  given: unknown,
  context: Context,
  work: (value: unknown) => Promise<T>,
): Promise<T | string> {
  let value: unknown
  try {
    value = parsed(given)
  } catch (cause) {
    return fail(`Could not parse objects: ${(cause as Error).message}`, context)
  }
  return work(value)
}

const inCollection = <T>(
  { collection, ...place }: Place & { readonly collection: string },
  context: Context,
  work: (found: Collection) => Promise<T>,
): Promise<T | string> => ask(place, context, (db) => work(db.collection(collection)))

async function updateOne(
  found: Collection,
  filter: unknown,
  fields: unknown,
  context: Context,
): Promise<string> {
  const matches = await found.find(fieldsOf(filter)).limit(2).toArray()
  if (matches.length === 0) return fail('Did not find any result. You should try an insert before.', context)
  if (matches.length > 1) return fail('Too many results. Please try to be more specific.', context)
  const { modifiedCount } = await found.updateOne(fieldsOf(filter), { $set: fieldsOf(fields) })
  return `${modifiedCount} objects updated`
}
