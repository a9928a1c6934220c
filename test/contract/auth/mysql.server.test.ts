import { createConnection, type RowDataPacket } from 'mysql2/promise'
import { expect, test } from 'vitest'
import { startMysql } from '../../harness/mysql-server.ts'
import { needs, program } from '../../harness/needs.ts'
import type { TestServer } from '../../harness/server.ts'
import { openBackend, PASSWORD } from '../auth.ts'
import { sqlAuthContract } from './sql.ts'

const account = { username: 'reader', password: 'of the table', database: 'salt' }
let filled: TestServer

await sqlAuthContract({
  name: 'mysql',
  needs: program('mariadbd'),
  says: 'MySQL',
  option: 'mysql_auth',
  start: startMysql,
  account,
  digest: 'sha2(?, 256)',
  async fill(server) {
    filled = server
    const run = async (sql: string, values: readonly string[] = []) => {
      const client = await createConnection({
        host: '127.0.0.1',
        port: server.port,
        user: 'root',
        database: 'salt',
      })
      const [rows] = await client.query<RowDataPacket[]>(sql, [...values])
      await client.end()
      return rows
    }
    await run(
      'create table users (id int not null auto_increment primary key, username varchar(25), password varchar(70))',
    )
    for (const user of ['fred', 'twin', 'twin'])
      await run('insert into users (username, password) values (?, sha2(?, 256))', [user, PASSWORD])
    await run('create user reader identified by ?', [account.password])
    await run('grant select on salt.users to reader')
    return { rows: async () => Number((await run('select count(*) as n from users'))[0]?.n) }
  },
})

test(
  'the name of a MySQL user is returned as the table has it, since the table ignores case',
  needs(program('mariadbd')),
  async () => {
    const server = await startMysql()
    expect(filled).toBeDefined()
    try {
      const client = await createConnection({
        host: '127.0.0.1',
        port: server.port,
        user: 'root',
        database: 'salt',
      })
      await client.query('create table users (username varchar(25), password varchar(70))')
      await client.query("insert into users values ('fred', sha2(?, 256))", [PASSWORD])
      await client.end()
      const setup = {
        opts: {
          mysql_auth: {
            hostname: '127.0.0.1',
            port: server.port,
            username: 'root',
            database: 'salt',
            auth_sql: 'SELECT username FROM users WHERE username = "{0}" AND password = SHA2("{1}", 256)',
          },
        },
      }
      expect(await openBackend('mysql').ask({ username: 'FRED', password: PASSWORD }, setup)).toEqual({
        name: 'fred',
      })
    } finally {
      await server.drop()
    }
  },
)
