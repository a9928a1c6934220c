import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { program } from '../../harness/needs.ts'
import { PASSWORD as ADMIN_PASSWORD, startPostgres } from '../../harness/postgres-server.ts'
import { openBackend, PASSWORD } from '../auth.ts'
import { sqlAuthContract } from './sql.ts'

const account = { username: 'reader', password: 'of the table', database: 'postgres' }

await sqlAuthContract({
  name: 'postgres',
  needs: program('pg_ctlcluster'),
  says: 'PostgreSQL',
  option: 'postgres_auth',
  start: startPostgres,
  account,
  digest: "encode(sha256(convert_to(?, 'UTF8')), 'hex')",
  async fill(server) {
    const run = async (sql: string, values: readonly string[] = []) => {
      const client = new pg.Client({
        host: '127.0.0.1',
        port: server.port,
        user: 'postgres',
        password: ADMIN_PASSWORD,
        database: 'postgres',
      })
      await client.connect()
      const { rows } = await client.query(sql, [...values])
      await client.end()
      return rows
    }
    await run('create table users (username text, password text)')
    for (const user of ['fred', 'twin', 'twin'])
      await run("insert into users values ($1, encode(sha256(convert_to($2, 'UTF8')), 'hex'))", [
        user,
        PASSWORD,
      ])
    await run(`create user reader password '${account.password}'`)
    await run('grant select on users to reader')
    return { rows: async () => Number((await run('select count(*) as n from users'))[0]?.n) }
  },
})

describe('pgsql', () => {
  test('is the same backend by another name, with settings of that name', async () => {
    const { check } = openBackend('pgsql')
    const auth_sql = 'select username from users where username = %s and password = crypt(%s, password)'
    expect(await check({ opts: { pgsql_auth: { username: 'u', database: 'd', auth_sql } } })).toEqual([])
    expect(await check({ opts: { pgsql_auth: { database: 'd', auth_sql } } })).toEqual([
      'pgsql_auth.username is missing.',
    ])
  })
})
