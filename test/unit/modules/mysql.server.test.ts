import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { statementsIn } from '../../../modules/_mysql/statements.ts'
import * as mysql from '../../../modules/mysql.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { mysqlHere, needs } from '../../harness/needs.ts'
import { type AnyFn, call } from './context.ts'
import { settingsContext } from './settings-context.ts'

const mark = `salt_ts_${process.pid}`
const PLACE = { 'mysql.host': '127.0.0.1', 'mysql.port': 3306, 'mysql.user': 'root' }

describe('mysql on the server of this machine', needs(await mysqlHere()), () => {
  const name = `${mark}%\`'"\\`
  const user = `${mark.slice(0, 20)}'"\\ u`
  // By its address, since some servers do not look up names.
  const account = { user, host: '127.0.0.1' }
  let context = settingsContext(PLACE)
  const run = (called: AnyFn, given: Record<string, unknown> = {}) => call(called, given, context)
  const query = (sql: string) => run(mysql.query, { database: name, query: sql })
  beforeEach(() => {
    context = settingsContext(PLACE)
  })
  beforeAll(async () => {
    expect(await run(mysql.db_create, { name, character_set: 'utf8mb4', collate: 'utf8mb4_bin' })).toBe(true)
    await query('CREATE TABLE t (id INT PRIMARY KEY, n VARCHAR(20))')
    await query("INSERT INTO t VALUES (1, 'grün'), (2, NULL)")
  })
  afterAll(async () => {
    await run(mysql.db_remove, { name })
    await run(mysql.user_remove, account)
  })

  test('returns rows with all values as text, and binary values as bytes', async () => {
    const sql = `SELECT id, n, 1.50 AS d, 2e0 AS f, 18446744073709551615 AS i, x'00ff' AS b, DATE '2024-01-02' AS day
      FROM t ORDER BY id LIMIT 1`
    const result = await query(sql)
    expect(result).toMatchObject({
      'rows returned': 1,
      columns: ['id', 'n', 'd', 'f', 'i', 'b', 'day'],
      results: [['1', 'grün', '1.50', '2', '18446744073709551615', Buffer.from([0, 255]), '2024-01-02']],
      'query time': { human: expect.stringMatching(/s$/), raw: expect.stringMatching(/^\d/) },
    })
    expect(await query('UPDATE t SET n = NULL WHERE id = 1')).toMatchObject({ 'rows affected': 1 })
    expect(await query("SELECT 'a%b%%c'")).toMatchObject({ results: [['a%b%%c']] })
  })

  test('distinguishes errors of statements, refusals and a server that is down', async () => {
    await expect(query('bad sql')).rejects.toThrow('MySQL Error 1064: ')
    await expect(query('SELECT 1; SELECT 2')).rejects.toThrow('MySQL Error 1064: ')
    expect(await query('SELECT nope FROM t')).toBe(false)
    expect(context.context.get('mysql.error')).toMatch(/^MySQL Error 1054: Unknown column 'nope'/)
    const nowhere = { connection_port: 1 }
    expect(await run(mysql.query, { database: name, query: 'SELECT 1', ...nowhere })).toEqual({})
    expect(await run(mysql.version, nowhere)).toBe('')
    expect(await run(mysql.slave_lag, nowhere)).toBe(-3)
    expect(context.context.get('mysql.error')).toBe(
      "MySQL Error 2003: Can't connect to MySQL server on '127.0.0.1' (ECONNREFUSED)",
    )
  })

  test('runs a file on one connection', async () => {
    const folder = await temporaryFolder('salt-ts-mysql-')
    try {
      const file_name = join(folder, 'a.sql')
      await writeFile(file_name, "-- it's\nSET @a = 'x;y'; SELECT @a; # end\nINSERT INTO t VALUES (9, @a);\n")
      expect(await run(mysql.file_query, { database: name, file_name })).toMatchObject({
        'rows returned': 1,
        columns: [['@a']],
        results: [[['x;y']]],
        'rows affected': 1,
      })
      const missing = { database: name, file_name: `${file_name}.no` }
      expect(await run(mysql.file_query, missing)).toBe(false)
    } finally {
      await removeFolder(folder)
    }
  })

  test('creates, changes and lists databases, whatever their names', async () => {
    expect(await run(mysql.db_create, { name })).toBe(false)
    expect(await run(mysql.db_get, { name })).toEqual({ character_set: 'utf8mb4', collate: 'utf8mb4_bin' })
    expect(await run(mysql.alter_db, { name, collate: 'utf8mb4_general_ci' })).toBe(true)
    expect(await run(mysql.db_get, { name })).toMatchObject({ collate: 'utf8mb4_general_ci' })
    expect(await run(mysql.db_list)).toContain(name)
    expect(await run(mysql.db_tables, { name })).toEqual(['t'])
    expect(await run(mysql.db_exists, { name: `${mark}%` })).toBe(false)
    expect(await run(mysql.db_tables, { name: `${mark} no` })).toBe(false)
    expect(await run(mysql.db_remove, { name: 'mysql' })).toBe(false)
    expect(await run(mysql.db_create, { name: `${mark} no`, character_set: 'nonsense' })).toBe(false)
    const [report] = (await run(mysql.db_check, { name })) as Record<string, unknown>[][]
    expect(report).toMatchObject([{ Op: 'check', Msg_text: 'OK' }])
  })

  test('creates, checks, changes and removes users', async () => {
    const password = "it's \\ a `secret`"
    expect(await run(mysql.user_create, account)).toBe(false)
    expect(await run(mysql.user_create, { ...account, password })).toBe(true)
    expect(await run(mysql.user_create, { ...account, password })).toBe(false)
    expect(await run(mysql.user_exists, { ...account, password })).toBe(true)
    expect(await run(mysql.user_exists, { ...account, password: 'wrong' })).toBe(false)
    expect(await run(mysql.verify_login, { user, password })).toBe(true)
    expect(await run(mysql.verify_login, { user, password: 'wrong' })).toBe(false)
    expect(await run(mysql.user_list)).toContainEqual({ User: user, Host: '127.0.0.1' })
    const hash = '*6C8989366EAF75BB670AD8EA7A7FC1176A95CEF4'
    expect(await run(mysql.user_chpass, { ...account, password_hash: hash })).toBe(true)
    expect(await run(mysql.user_exists, { ...account, password_hash: hash })).toBe(true)
    expect(await run(mysql.verify_login, { user, password: 'mypass' })).toBe(true)
    expect(await run(mysql.user_chpass, account)).toBe(false)
    expect(await run(mysql.user_chpass, { ...account, allow_passwordless: true })).toBe(true)
    expect(await run(mysql.user_exists, { ...account, passwordless: true })).toBe(true)
    expect(await run(mysql.user_info, account)).toMatchObject({ User: user, max_questions: 0 })
    expect(await run(mysql.user_info, { ...account, user: `${mark} no` })).toBeNull()
    expect(await run(mysql.user_remove, account)).toBe(true)
    expect(await run(mysql.user_remove, account)).toBe(false)
  })

  test('grants and revokes privileges', async () => {
    await run(mysql.user_create, { ...account, allow_passwordless: true })
    const all = { grant: 'SELECT, insert', database: `${name}.*`, escape: true, ...account }
    expect(await run(mysql.grant_exists, all)).toBe(false)
    expect(await run(mysql.grant_add, all)).toBe(true)
    expect(await run(mysql.grant_exists, { ...all, grant: 'INSERT' })).toBe(true)
    expect(await run(mysql.grant_exists, { ...all, grant_option: true })).toBe(false)
    expect(await run(mysql.grant_add, { ...all, grant_option: true })).toBe(true)
    expect(await run(mysql.grant_add, { ...all, grant: 'UPDATE(n)', database: `${name}.t` })).toBe(true)
    expect(await run(mysql.user_grants, account)).toHaveLength(3)
    expect(await run(mysql.grant_revoke, { ...all, grant: 'INSERT' })).toBe(true)
    expect(await run(mysql.grant_exists, all)).toBe(false)
    for (const grant of ['SELECT; DROP', 'SELECT ON *.* TO root@localhost; --', 'FLY', ''])
      expect(await run(mysql.grant_add, { ...all, grant })).toBe(false)
    expect(await run(mysql.grant_add, { ...all, database: 'nodot' })).toBe(false)
    expect(await run(mysql.user_grants, { ...account, user: `${mark} no` })).toBe(false)
    await run(mysql.user_remove, account)
  })

  test('returns facts about the server', async () => {
    expect(await run(mysql.version)).toMatch(/^\d+\.\d+/)
    expect(await run(mysql.status)).toMatchObject({ Uptime: expect.stringMatching(/^\d+$/) })
    expect(await run(mysql.showglobal)).toContainEqual({ Variable_name: 'port', Value: '3306' })
    expect(await run(mysql.processlist)).toContainEqual(
      expect.objectContaining({ Info: 'SHOW FULL PROCESSLIST' }),
    )
    expect(await run(mysql.get_slave_status)).toEqual([])
    expect(await run(mysql.slave_lag)).toBe(-1)
    await expect(run(mysql.free_slave)).rejects.toThrow('This server is not a replica.')
    expect(await run(mysql.plugin_status, { name: 'mysql_native_password' })).toBe('ACTIVE')
    expect(await run(mysql.plugin_add, { name: 'nope' })).toBe(false)
    expect(await run(mysql.plugin_remove, { name: 'nope' })).toBe(true)
    expect(await run(mysql.plugin_status, { name: '' })).toBe(false)
  })
})

test('mysql reads the connection settings from a file, and only from there', async () => {
  const folder = await temporaryFolder('salt-ts-mysql-')
  try {
    const file = join(folder, 'my.cnf')
    await writeFile(file, '[other]\nport=2\n[client]\nhost = 127.0.0.1\nport = "1"\nuser=x\n')
    const context = settingsContext({ 'mysql.host': '127.0.0.9' })
    expect(await call(mysql.db_list, { connection_default_file: file }, context)).toEqual([])
    expect(context.context.get('mysql.error')).toContain("on '127.0.0.1' (ECONNREFUSED)")
    await expect(call(mysql.db_list, { connection_default_file: `${file}.no` }, context)).rejects.toThrow(
      `The file of MySQL's settings, ${file}.no, cannot be read (ENOENT).`,
    )
  } finally {
    await removeFolder(folder)
  }
})

test('mysql splits a script at semicolons outside of texts and comments', () => {
  const script = "a 'x;\\'y' ; -- c;\nb /* ; */ `;` # d;\n; c--1; /*! d; */"
  expect(statementsIn(script)).toEqual(["a 'x;\\'y'", 'b   `;`', 'c--1', '/*! d', '*/'])
})

test('mysql parses a GRANT statement, and quotes names', async () => {
  const grant = "GRANT SELECT (a, b), LOCK TABLES ON `te st``x`.`t` TO 'te u'@'%' WITH GRANT OPTION"
  expect(await call(mysql.tokenize_grant, { grant })).toEqual({
    user: 'te u',
    host: '%',
    grant: ['SELECT', 'SELECT.a', 'SELECT.b', 'LOCK TABLES'],
    database: '`te st``x`.`t`',
  })
  expect(await call(mysql.tokenize_grant, { grant: 'nonsense' })).toEqual({
    user: '',
    host: '',
    grant: [],
    database: '',
  })
  expect(await call(mysql.quote_identifier, { identifier: 'fo_o`b%ar', for_grants: true })).toBe(
    '`fo\\_o``b%%ar`',
  )
})
