import { chmod, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { get as configGet } from '../../../modules/config.ts'
import * as http from '../../../modules/http.ts'
import * as sdb from '../../../modules/sdb.ts'
import * as sqlite3 from '../../../modules/sqlite3.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { httpServer } from '../../harness/http-server.ts'
import { call, fakeContext } from './context.ts'
import { settingsContext } from './settings-context.ts'

let folder: string
let database: string
beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-sdb-')
  database = join(folder, 'sdb.db')
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await removeFolder(folder)
})

const osenv = { driver: 'env' }
const of = (profiles: object, pillar: object = {}) =>
  fakeContext({ opts: { ...profiles }, pillar: { ...pillar } })
const get = (uri: unknown, context = of({ osenv }), strict = false) => call(sdb.get, { uri, strict }, context)
const set = (uri: unknown, value: unknown, context = of({ osenv })) => call(sdb.set, { uri, value }, context)

describe('URIs', () => {
  test.each([
    ['foo', 'SDB uri must start with "sdb://"'],
    [5, 'SDB uri must start with "sdb://"'],
    ['sdb://osenv', 'SDB uri must have a profile name as a first part of the uri before the /'],
    ['sdb://osenv/', 'SDB uri must have a profile name as a first part of the uri before the /'],
    ['sdb://none/x', 'SDB profile "none" wasnt found in the minion configuration'],
    ['sdb://id/x', 'SDB profile "id" wasnt found in the minion configuration'],
    ['sdb://constructor/x', 'SDB profile "constructor" wasnt found in the minion configuration'],
  ])('%s is returned as it is, or refused with strict, and stores nothing', async (uri, reason) => {
    const context = of({ osenv, id: 'web1' })
    expect(await get(uri, context)).toBe(uri)
    await expect(get(uri, context, true)).rejects.toThrow(reason)
    expect(await set(uri, 'x', context)).toBe(false)
    expect(await call(sdb.delete, { uri }, context)).toBe(false)
  })

  test('name a profile of the configuration, or else of the pillar', async () => {
    vi.stubEnv('SDB_TEST', 'value')
    expect(await get('sdb://mine/SDB_TEST', of({}, { mine: osenv }))).toBe('value')
    expect(await get('sdb://mine/SDB_TEST', of({ mine: new Map([['driver', 'env']]) }))).toBe('value')
    await expect(get('sdb://mine/x', of({ mine: { driver: 'vault' } }))).rejects.toThrow(
      "The SDB profile 'mine' has the driver 'vault', which there is not; known are env, rest, sqlite3",
    )
  })

  test('in the configuration stand for their values in config.get', async () => {
    vi.stubEnv('SDB_TEST', 'value')
    const context = of({ osenv, mysql: { pass: 'sdb://osenv/SDB_TEST' }, other: 'sdb://none/x' })
    expect(await call(configGet, { key: 'mysql:pass' }, context)).toBe('value')
    expect(await call(configGet, { key: 'mysql:pass', merge: 'recurse' }, context)).toBe('value')
    expect(await call(configGet, { key: 'other' }, context)).toBe('sdb://none/x')
  })
})

describe('env', () => {
  test('keeps an existing value, and returns variables that the job has set', async () => {
    const context = of({ osenv })
    expect(await get('sdb://osenv/SDB_NEW', context)).toBeNull()
    expect(await set('sdb://osenv/SDB_NEW', 'one', context)).toBe('one')
    expect(await set('sdb://osenv/SDB_NEW', 'two', context)).toBe('one')
    expect(await get('sdb://osenv/SDB_NEW', context)).toBe('one')
    expect(process.env).not.toHaveProperty('SDB_NEW')
  })

  test('accepts text only, and removes nothing', async () => {
    await expect(set('sdb://osenv/x', 5)).rejects.toThrow(
      "The value of the environment variable 'x' must be text",
    )
    await expect(set('sdb://osenv/a=b', 'x')).rejects.toThrow('has neither "=" nor a null byte')
    await expect(call(sdb.delete, { uri: 'sdb://osenv/x' }, of({ osenv }))).rejects.toThrow(
      "The SDB driver 'env' cannot remove values",
    )
  })
})

describe('sqlite3', () => {
  test('a new database is readable by its owner only, and an existing one keeps its mode', async () => {
    const context = of({ lite: { driver: 'sqlite3', database } })
    expect(await set('sdb://lite/token', 'x', context)).toBe(true)
    expect((await stat(database)).mode & 0o777).toBe(0o600)
    await chmod(database, 0o640)
    expect(await set('sdb://lite/token', 'y', context)).toBe(true)
    expect((await stat(database)).mode & 0o777).toBe(0o640)
  })

  const profiles = (more: object = {}) => of({ db: { driver: 'sqlite3', database, ...more } })

  test('stores values of all types, as Python Salt does', async () => {
    expect(await get('sdb://db/a/b', profiles())).toBeNull()
    for (const value of ['text', 5, { a: [1, null, true] }]) {
      expect(await set('sdb://db/a/b', value, profiles())).toBe(true)
      expect(await get('sdb://db/a/b', profiles())).toEqual(value)
    }
    await set('sdb://db/a/b', 'text', profiles())
    const rows = await call(sqlite3.fetch, { db: database, sql: 'SELECT * FROM sdb' })
    expect(rows).toEqual([['a/b', Buffer.from('\xa4text', 'latin1')]])
  })

  test('uses the table and the statements of the profile', async () => {
    const odd = profiles({ table: 'odd "name"' })
    expect(await set('sdb://db/k', 'v', odd)).toBe(true)
    expect(await get('sdb://db/k', odd)).toBe('v')
    const advanced = profiles({
      create_statements: ['CREATE TABLE advanced (a text, d blob)', 'CREATE UNIQUE INDEX i ON advanced (a)'],
      get_query: 'SELECT d FROM advanced WHERE a=:key',
      set_query: 'INSERT OR REPLACE INTO advanced (a, d) VALUES (:key, :value)',
    })
    expect(await set('sdb://db/k', [1], advanced)).toBe(true)
    expect(await get('sdb://db/k', advanced)).toEqual([1])
  })

  test('reports errors in the profile, or the value', async () => {
    await expect(get('sdb://db/k', of({ db: { driver: 'sqlite3' } }))).rejects.toThrow("needs 'database'")
    await expect(get('sdb://db/k', profiles({ create_table: false }))).rejects.toThrow('no such table: sdb')
    await expect(get('sdb://db/k', profiles({ create_statements: ['CREATE'] }))).rejects.toThrow('incomplete')
    await set('sdb://db/k', 'v', profiles())
    await call(sqlite3.modify, { db: database, sql: "UPDATE sdb SET value = x'c1'" })
    await expect(get('sdb://db/k', profiles())).rejects.toThrow(
      "The value of 'k' in the SQLite database is no MessagePack",
    )
  })

  test('keeps a generated text', async () => {
    const ask = (given: object) => call(sdb.get_or_set_hash, { uri: 'sdb://db/key', ...given }, profiles())
    const made = await ask({ length: 20, chars: 'aé' })
    expect(made).toMatch(/^[aé]{20}$/)
    expect(await ask({ length: 50 })).toBe(made)
    expect(await ask({ uri: 'sdb://db/other' })).toMatch(/^[a-z0-9!@#$%^&*(\-_=+)]{8}$/)
    expect(await ask({ uri: 'foo' })).toBe(false)
    await expect(ask({ chars: '' })).rejects.toThrow("'chars' has no characters to choose from")
  })
})

describe('rest', () => {
  const profile = (url: string) => ({
    api: {
      driver: 'rest',
      keys: { url: `${url}users/{{ user }}/keys`, params: { page: '2' }, backend: 'requests' },
      plain: { url: `${url}plain` },
      template: { url: `${url}{% if user %}{{ user|upper }}{% endif %}` },
    },
  })

  test('returns what the server sends as JSON, for a URL with the values of the key', async () => {
    const server = await httpServer(({ path, query }) =>
      path === '/plain' ? { status: 500 } : { text: JSON.stringify({ path, page: query.get('page') }) },
    )
    try {
      const query = (given: unknown) => call(http.query, given as Record<string, unknown>)
      const context = settingsContext(profile(server.url), {}, { 'http.query': query })
      const answer = { path: '/users/me/keys', page: '2' }
      expect(await get('sdb://api/keys?user=me', context)).toEqual(answer)
      expect(await set('sdb://api/keys?user=me', 'unused', context)).toEqual(answer)
      await expect(get('sdb://api/plain', context)).rejects.toThrow("The request for 'plain' failed")
      await expect(get('sdb://api/none', context)).rejects.toThrow("has no 'none' with a 'url'")
      expect(await get('sdb://api/template?user=x', context)).toEqual({ path: '/X', page: null })
      await expect(get('sdb://api/template', context)).rejects.toThrow("'user' is undefined")
    } finally {
      await server.close()
    }
  })
})
