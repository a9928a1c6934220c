import { readdirSync } from 'node:fs'
import { chown, mkdtemp, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as postgres from '../../../modules/postgres.ts'
import { removeFolder } from '../../harness/folder.ts'
import { needs, postgresHere, program, ROOT } from '../../harness/needs.ts'
import { PASSWORD, startPostgres } from '../../harness/postgres-server.ts'
import { type AnyFn, call } from './context.ts'
import { settingsContext } from './settings-context.ts'

const mark = `salt_ts_${process.pid}`
const odd = (name: string) => `${mark} ${name}"'\\; --`

describe('postgres on the server of this machine', needs(await postgresHere(), program('psql')), () => {
  const context = settingsContext({ 'postgres.host': '127.0.0.1', 'postgres.user': 'postgres' })
  const run = (called: AnyFn, given: Record<string, unknown> = {}) => call(called, given, context)
  const db = odd('db')
  const there = { maintenance_db: db }
  const role = odd('role')
  const group = odd('group')
  beforeAll(async () => {
    expect(await run(postgres.db_create, { name: db, template: 'template0', encoding: 'UTF8' })).toBe(true)
  })
  afterAll(async () => {
    for (const name of [`${db} 2`, db])
      if (await run(postgres.db_exists, { name })) await run(postgres.db_remove, { name })
    for (const username of [role, group]) await run(postgres.user_remove, { username })
  })

  test('creates, lists and removes databases, also with unusual names', async () => {
    const name = `${db} 2`
    expect(
      await run(postgres.db_create, { name, lc_collate: 'C', lc_ctype: 'C', template: 'template0' }),
    ).toBe(true)
    expect(await run(postgres.db_create, { name })).toBe(false)
    expect(context.retcode).toBe(1)
    const all = (await run(postgres.db_list)) as Record<string, object>
    expect(all[name]).toMatchObject({ Owner: 'postgres', Collate: 'C', Tablespace: 'pg_default' })
    const client = new pg.Client({ host: '127.0.0.1', user: 'postgres', database: name })
    client.on('error', () => undefined)
    await client.connect()
    expect(await run(postgres.db_remove, { name })).toBe(true)
    expect(await run(postgres.db_exists, { name })).toBe(false)
    await expect(run(postgres.db_remove, { name })).rejects.toThrow(
      /could not be removed: ERROR: .*does not exist/,
    )
  })

  test('returns rows with all values as text', async () => {
    const sql = `select 1 as a, null as b, 'x,"y' || chr(10) || 'ü' as c, 1.50 as d, '\\x00ff'::bytea as e;`
    expect(await run(postgres.psql_query, { query: sql })).toEqual([
      { a: '1', b: '', c: 'x,"y\nü', d: '1.50', e: '\\x00ff' },
    ])
    expect(await run(postgres.psql_query, { query: 'select null as a' })).toEqual([{ a: '' }])
    expect(await run(postgres.psql_query, { query: 'select 1 where false' })).toEqual([])
    expect(await run(postgres.psql_query, { query: 'select nonsense' })).toEqual([])
  })

  test('writes with a query', async () => {
    await run(postgres.schema_create, { dbname: db, name: 'w' })
    const client = new pg.Client({ host: '127.0.0.1', user: 'postgres', database: db })
    await client.connect()
    await client.query('create table w.t (x int)')
    await client.end()
    const query = 'WITH n AS (INSERT INTO w.t VALUES (1), (2) RETURNING x) SELECT * FROM n'
    expect(await run(postgres.psql_query, { query, write: true, ...there })).toEqual([{ x: '1' }, { x: '2' }])
    expect(await run(postgres.psql_query, { query: 'select count(*) from w.t', ...there })).toEqual([
      { count: '2' },
    ])
  })

  test('creates, changes and removes users and groups', async () => {
    expect(await run(postgres.group_create, { groupname: group })).toBe(true)
    const rolepassword = "it's a \\ secret"
    expect(
      await run(postgres.user_create, {
        username: role,
        rolepassword,
        encrypted: 'scram-sha-256',
        connlimit: 0,
        valid_until: '2030-01-02 03:04:05',
        groups: [group],
      }),
    ).toBe(true)
    expect(await run(postgres.user_create, { username: role })).toBe(false)
    expect(await run(postgres.role_get, { name: role, return_password: true })).toMatchObject({
      superuser: false,
      'can login': true,
      'inherits privileges': true,
      'can update system catalogs': null,
      connections: 0,
      'expiry time': new Date('2030-01-02T03:04:05Z'),
      groups: [group],
      password: expect.stringMatching(/^SCRAM-SHA-256\$4096:/),
    })
    expect(await run(postgres.user_update, { username: role, rolepassword: false, superuser: false })).toBe(
      true,
    )
    expect(await run(postgres.role_get, { name: role, return_password: true })).toMatchObject({
      password: '',
    })
    expect(await run(postgres.privileges_list, { name: group, object_type: 'group' })).toEqual({
      [role]: false,
    })
    expect(await run(postgres.user_exists, { name: `${role} no` })).toBe(false)
    expect(await run(postgres.user_update, { username: `${role} no` })).toBe(false)
    await expect(run(postgres.user_update, { username: role, rolepassword: true })).rejects.toThrow(
      "'rolepassword' is the password, or False for none.",
    )
    await expect(
      run(postgres.user_update, { username: role, rolepassword: 'x', encrypted: 'rot13' }),
    ).rejects.toThrow('Unknown password algorithm: rot13')
  })

  test('grants, lists and revokes privileges', async () => {
    const asked = { name: role, object_name: db, object_type: 'database', privileges: 'CREATE,CONNECT' }
    expect(await run(postgres.has_privileges, asked)).toBe(false)
    expect(await run(postgres.privileges_grant, asked)).toBe(true)
    expect(await run(postgres.privileges_grant, asked)).toBe(false)
    expect(await run(postgres.has_privileges, { ...asked, grant_option: true })).toBe(false)
    expect(await run(postgres.privileges_grant, { ...asked, grant_option: true })).toBe(true)
    const all = await run(postgres.privileges_list, { name: db, object_type: 'database' })
    expect(all).toMatchObject({
      public: { CONNECT: false, TEMPORARY: false },
      [role]: { CREATE: true, CONNECT: true },
    })
    expect(await run(postgres.privileges_revoke, asked)).toBe(true)
    expect(await run(postgres.privileges_revoke, asked)).toBe(false)
    await expect(run(postgres.has_privileges, { ...asked, privileges: 'FLY' })).rejects.toThrow(
      'Invalid privilege(s): FLY provided for object database',
    )
    await expect(run(postgres.privileges_list, { name: db, object_type: 'thing' })).rejects.toThrow(
      'Invalid object_type: thing provided',
    )
    const called = { ...asked, object_type: 'function', privileges: 'EXECUTE' }
    await expect(
      run(postgres.privileges_grant, { ...called, object_name: 'f(int); drop table t' }),
    ).rejects.toThrow('is not a function with the types of its arguments')
  })

  test('grants on all tables of a schema, and changes the owner of everything in a database', async () => {
    const client = new pg.Client({ host: '127.0.0.1', user: 'postgres', database: db })
    await client.connect()
    await client.query('create schema o; create table o.t (id serial); create view o.v as select 1 as x')
    await client.query("create function o.f(int) returns int language sql as 'select 1'")
    await client.query('create aggregate o.a(int) (sfunc = int4pl, stype = int)')
    await client.end()
    const asked = { name: role, prepend: 'o', ...there }
    expect(
      await run(postgres.privileges_grant, {
        ...asked,
        object_name: 'ALL',
        object_type: 'table',
        privileges: 'SELECT',
      }),
    ).toBe(true)
    const table = { ...asked, object_name: 't', object_type: 'table' }
    expect(await run(postgres.has_privileges, { ...table, privileges: 'SELECT' })).toBe(true)
    const { retcode } = (await run(postgres.owner_to, { dbname: db, ownername: role })) as { retcode: number }
    expect(retcode).toBe(0)
    expect(await run(postgres.has_privileges, { ...table, privileges: 'ALL' })).toBe(true)
    expect(await run(postgres.schema_get, { dbname: db, name: 'o' })).toMatchObject({ owner: role })
    expect(await run(postgres.db_alter, { name: db, owner: 'postgres', owner_recurse: true })).toBe(true)
  })

  test('creates and removes schemas, languages and extensions', async () => {
    const schema = { dbname: db, name: odd('schema') }
    expect(await run(postgres.schema_create, schema)).toBe(true)
    expect(await run(postgres.schema_create, schema)).toBe(false)
    expect(await run(postgres.schema_exists, schema)).toBe(true)
    expect(await run(postgres.schema_remove, schema)).toBe(true)
    expect(await run(postgres.schema_remove, schema)).toBe(false)
    expect(await run(postgres.language_exists, { name: 'plpgsql', ...there })).toBe(true)
    expect(await run(postgres.language_create, { name: 'no"lang', ...there })).toBe(false)
    const plpgsql = { name: 'plpgsql', ...there }
    expect(await run(postgres.create_metadata, { ...plpgsql, ext_version: '1.10' })).toEqual([
      'EXTENSION INSTALLED',
      'EXTENSION TO UPGRADE',
    ])
    expect(await run(postgres.create_extension, plpgsql)).toBe(true)
    expect(await run(postgres.is_available_extension, { ...plpgsql, name: 'PLPGSQL' })).toBe(true)
    expect(await run(postgres.drop_extension, { ...plpgsql, restrict: true })).toBe(true)
    expect(await run(postgres.get_installed_extension, plpgsql)).toBeNull()
    expect(await run(postgres.create_extension, { ...plpgsql, ext_version: "'1.0'" })).toBe(true)
    expect(await run(postgres.create_extension, { name: 'no"extension', ...there })).toBe(false)
  })

  test('refuses tablespaces that the server refuses, and invalid options', async () => {
    const name = odd('space')
    expect(await run(postgres.tablespace_create, { name, location: '/nonexistent/x' })).toBe(false)
    expect(await run(postgres.tablespace_exists, { name: 'pg_default' })).toBe(true)
    expect(await run(postgres.tablespace_alter, { name, new_owner: role })).toBe(false)
    await expect(run(postgres.tablespace_alter, { name, reset_option: 'a); drop table t' })).rejects.toThrow(
      "'a); drop table t' is not the name of an option.",
    )
    expect(await run(postgres.tablespace_remove, { name })).toBe(false)
  })

  test('returns empty results if there is no server', async () => {
    const nowhere = { port: '1' }
    expect(await run(postgres.version, nowhere)).toBeNull()
    expect(await run(postgres.db_list, nowhere)).toEqual({})
    expect(await run(postgres.user_list, nowhere)).toBe(false)
    expect(await run(postgres.role_get, { name: 'postgres', ...nowhere })).toBeNull()
    expect(context.retcode).toBe(2)
  })
})

describe(
  'postgres and a server that asks for a password',
  needs(program('psql'), program('pg_ctlcluster')),
  () => {
    let server: Awaited<ReturnType<typeof startPostgres>>
    beforeAll(async () => {
      server = await startPostgres()
    })
    afterAll(() => server?.drop())

    test('logs in with it, also as a user with a hashed password', async () => {
      const where = { host: '127.0.0.1', port: String(server.port), user: 'postgres', password: PASSWORD }
      const context = settingsContext({})
      const rolepassword = "it's a \\ sécret"
      for (const encrypted of ['scram-sha-256', false]) {
        const given = { username: `by ${encrypted}`, rolepassword, encrypted, ...where }
        expect(await call(postgres.user_create, given, context)).toBe(true)
        const asUser = { ...where, user: given.username, password: rolepassword }
        expect(
          await call(postgres.psql_query, { query: 'select current_user as u', ...asUser }, context),
        ).toEqual([{ u: given.username }])
      }
      expect(await call(postgres.version, { ...where, password: 'wrong' }, context)).toBeNull()
    })
  },
)

test('postgres makes the folder of a server with initdb', needs(ROOT, program('pg_ctlcluster')), async () => {
  const folder = await mkdtemp(join(tmpdir(), 'salt-ts-initdb-'))
  try {
    const name = join(folder, 'data')
    const { uid } = await stat('/var/lib/postgresql')
    await chown(folder, uid, -1)
    const context = settingsContext({
      'postgres.bins_dir': `/usr/lib/postgresql/${readdirSync('/usr/lib/postgresql')[0]}/bin`,
    })
    const given = { name, auth: 'scram-sha-256', password: 'geheim', checksums: true, locale: 'C' }
    expect(await call(postgres.datadir_exists, { name }, context)).toBe(false)
    expect(await call(postgres.datadir_init, given, context)).toBe(true)
    expect(await call(postgres.datadir_init, given, context)).toBe(false)
    expect(await call(postgres.datadir_exists, { name }, context)).toBe(true)
  } finally {
    await removeFolder(folder)
  }
})
