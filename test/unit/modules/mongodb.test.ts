/** With a double of the server: its license keeps MongoDB out of the distributions. */
import { BSON } from 'mongodb'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import * as mongodb from '../../../modules/mongodb.ts'
import { mongodbDouble } from '../../harness/mongodb.ts'
import { freePort } from '../../harness/ports.ts'
import { SLOW } from '../../harness/slow.ts'
import { type AnyFn, call } from './context.ts'
import { settingsContext } from './settings-context.ts'

type Fields = Record<string, unknown>

let server: Awaited<ReturnType<typeof mongodbDouble>>
let asked: Fields[]
const users = [{ user: 'joe', db: 'app', roles: [{ role: 'readWrite', db: 'app' }] }]
beforeEach(async () => {
  asked = []
  const answers: [string, Fields][] = [
    ['listDatabases', { databases: [{ name: 'admin' }, { name: 'app' }] }],
    ['listCollections', { cursor: { id: BSON.Long.ZERO, ns: 'app.x', firstBatch: [{ name: 'c1' }] } }],
    ['buildInfo', { version: '7.0.5' }],
    ...['dropDatabase', 'createUser', 'grantRolesToUser', 'revokeRolesFromUser', 'create', 'drop'].map(
      (name): [string, Fields] => [name, {}],
    ),
  ]
  server = await mongodbDouble({
    ...Object.fromEntries(answers.map(([name, answer]) => [name, (command) => noted(command, answer)])),
    usersInfo: (command) => noted(command, { users: command.usersInfo === 'none' ? [] : users }),
    dropUser: () => {
      throw new Error("User 'none@app' not found")
    },
  })
})
afterEach(() => server.close())

function noted(command: Fields, answer: Fields): Fields {
  const { lsid: _, $db, ...rest } = command
  asked.push({ ...rest, $db })
  return answer
}

const context = () => settingsContext({ 'mongodb.host': '127.0.0.1', 'mongodb.port': server.port })
const ask = (fn: AnyFn, given: object = {}, of = context()) => call(fn, given as Fields, of)
const inApp = (fn: AnyFn, given: object = {}, of = context()) => ask(fn, { database: 'app', ...given }, of)

describe('The server', () => {
  test('returns its version, databases and collections', SLOW, async () => {
    expect(await ask(mongodb.version)).toBe('7.0.5')
    expect(await ask(mongodb.db_list)).toEqual(['admin', 'app'])
    expect(await ask(mongodb.db_exists, { name: 'app' })).toBe(true)
    expect(await ask(mongodb.db_exists, { name: 'other' })).toBe(false)
    expect(await inApp(mongodb.collections_list)).toEqual(['c1'])
  })

  test('makes and removes databases and collections', async () => {
    expect(await ask(mongodb.db_remove, { name: 'app' })).toBe(true)
    expect(await inApp(mongodb.collection_create, { collection: 'c2' })).toBe(true)
    expect(await inApp(mongodb.collection_drop, { collection: 'c2' })).toBe(true)
    expect(asked).toEqual([
      { dropDatabase: 1, $db: 'app' },
      { create: 'c2', $db: 'app' },
      { drop: 'c2', $db: 'app' },
    ])
  })

  test('that is down makes the job fail, with the sentence of Salt', SLOW, async () => {
    const gone = await freePort()
    const failing = async (fn: AnyFn, given: object = {}) => {
      const of = settingsContext({})
      const host = `mongodb://127.0.0.1:${gone}/?serverSelectionTimeoutMS=50`
      const value = await ask(fn, { host, ...given }, of)
      expect(of.retcode).toBe(1)
      return value
    }
    expect(await failing(mongodb.db_list)).toBe('Failed to connect to mongo database')
    expect(await failing(mongodb.db_exists, { name: 'x' })).toBe(false)
    expect(await failing(mongodb.user_exists, { name: 'x' })).toBe('Failed to connect to mongo database')
    const named = [false, `Failed to connect to MongoDB database 127.0.0.1:${gone}`]
    expect(await failing(mongodb.version)).toEqual(named)
    expect(await failing(mongodb.user_find, { name: 'x' })).toEqual(named)
  })

  test('that refuses the user is reported as one that is down, and the log has no password', async () => {
    const of = context()
    const value = await ask(mongodb.db_list, { user: 'me', password: 'secret' }, of)
    expect(value).toBe('Failed to connect to mongo database')
    expect(JSON.stringify(of.lines)).toContain("no such command: 'saslStart'")
    expect(JSON.stringify(of.lines)).not.toContain('secret')
  })
})

describe('Users', () => {
  test('are listed and found', async () => {
    expect(await inApp(mongodb.user_list)).toEqual([{ user: 'joe', roles: users[0]?.roles }])
    expect(await inApp(mongodb.user_find, { name: 'joe' })).toEqual(users)
    expect(await inApp(mongodb.user_find, { name: 'none' })).toEqual([])
    expect(await inApp(mongodb.user_exists, { name: 'joe' })).toBe(true)
    expect(await inApp(mongodb.user_exists, { name: 'jane' })).toBe(false)
  })

  test('have roles: names, maps, or JSON', async () => {
    const has = (roles: unknown, name = 'joe') => inApp(mongodb.user_roles_exists, { name, roles })
    expect(await has('["readWrite"]')).toBe(true)
    expect(await has([{ role: 'readWrite', db: 'app' }])).toBe(true)
    expect(await has([{ role: 'readWrite', db: 'other' }])).toBe(false)
    expect(await has(['read'])).toBe(false)
    expect(await has([], 'jane')).toBe(false)
    expect(await has('readWrite')).toBe('Roles provided in wrong format')
  })

  test('are made, changed and removed', async () => {
    expect(await inApp(mongodb.user_create, { name: 'jane', passwd: 'pw', roles: ['read'] })).toBe(true)
    expect(await inApp(mongodb.user_grant_roles, { name: 'jane', roles: '["dbAdmin"]' })).toBe(true)
    const roles = [{ role: 'read', db: 'x' }]
    expect(await inApp(mongodb.user_revoke_roles, { name: 'jane', roles })).toBe(true)
    expect(asked).toEqual([
      { createUser: 'jane', pwd: 'pw', roles: [{ role: 'read', db: 'app' }], $db: 'app' },
      { grantRolesToUser: 'jane', roles: ['dbAdmin'], $db: 'app' },
      { revokeRolesFromUser: 'jane', roles, $db: 'app' },
    ])
    const of = context()
    expect(await inApp(mongodb.user_remove, { name: 'none' }, of)).toBe(false)
    expect(of.lines).toContainEqual({
      level: 'error',
      message: `MongoDB at 127.0.0.1:${server.port}: User 'none@app' not found`,
    })
    expect(await inApp(mongodb.user_grant_roles, { name: 'x', roles: '{' })).toBe(
      'Roles provided in wrong format',
    )
  })
})

describe('Documents', () => {
  const here = (fn: AnyFn, given: object, of = context()) => inApp(fn, { collection: 'c', ...given }, of)

  test('are inserted, found, updated and removed', async () => {
    expect(await here(mongodb.insert, { objects: '[{"_id": 1, "a": "x"}, {"_id": 2, "a": "x"}]' })).toBe(true)
    expect(await here(mongodb.insert, { objects: { _id: 3, a: 'y' } })).toBe(true)
    expect(await here(mongodb.find, { query: [{ a: 'y' }, { _id: 1 }] })).toEqual([
      { _id: 3, a: 'y' },
      { _id: 1, a: 'x' },
    ])
    expect(await here(mongodb.find, {})).toHaveLength(3)
    expect(await here(mongodb.update_one, { objects: '{"_id": 1} {"b": {"c": 2}}' })).toBe(
      '1 objects updated',
    )
    expect(await here(mongodb.find, { query: '{"_id": 1}' })).toEqual([{ _id: 1, a: 'x', b: { c: 2 } }])
    expect(await here(mongodb.remove, { query: { a: 'x' } })).toBe('1 objects removed')
    expect(await here(mongodb.remove, { query: [{ a: 'x' }, { a: 'y' }], w: 5 })).toBe('2 objects removed')
  })

  test('are returned in types that a return can contain', async () => {
    const id = new BSON.ObjectId('0123456789abcdef01234567')
    const when = new Date('2030-01-01T00:00:00Z')
    const [large, small] = [2n ** 60n, 5n]
    server.documents('c').push({
      _id: id,
      when,
      large,
      small,
      bytes: new BSON.Binary(Buffer.from([1])),
      list: [{ id }],
      sum: BSON.Decimal128.fromString('1.50'),
      min: new BSON.MinKey(),
    })
    const hex = '0123456789abcdef01234567'
    expect(await here(mongodb.find, {})).toEqual([
      {
        _id: hex,
        when,
        large,
        small: 5,
        bytes: Buffer.from([1]),
        list: [{ id: hex }],
        sum: '1.50',
        min: { $minKey: 1 },
      },
    ])
  })

  test('keep whole floats as floats', async () => {
    await here(mongodb.insert, {
      objects: [{ _id: 1, f: new Number(2), deep: new Map([['g', new Number(3)]]) }],
    })
    const [document] = server.documents('c')
    expect(document).toMatchObject({ f: 2, deep: { g: 3 } })
  })

  test.each([
    [mongodb.update_one, { objects: '{"_id": 9} {"b": 2}' }, 'Did not find any result. You should try'],
    [mongodb.update_one, { objects: '{"a": "x"} {"b": 2}' }, 'Too many results. Please try to be more'],
    [mongodb.update_one, { objects: '{"a": "x"}' }, 'Your request does not contain a valid'],
    [mongodb.update_one, { objects: '{"a": x} {"b": 2}' }, 'Could not parse objects'],
    [mongodb.find, { query: '{' }, 'Could not parse objects'],
    [mongodb.insert, { objects: '[' }, 'Could not parse objects'],
  ])('that cannot be read or found make the job fail (%#)', async (fn, given, reason) => {
    server.documents('c').push({ _id: 1, a: 'x' }, { _id: 2, a: 'x' })
    const of = context()
    expect(await here(fn, given, of)).toContain(reason)
    expect(of.retcode).toBe(1)
  })

  test.each([5, 'null', [[]]])('a filter %j, which is no map, removes nothing', async (query) => {
    server.documents('c').push({ _id: 1 })
    await expect(here(mongodb.remove, { query })).rejects.toThrow('is no document of MongoDB')
    expect(server.documents('c')).toHaveLength(1)
  })
})
