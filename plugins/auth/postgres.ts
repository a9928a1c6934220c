/** Users of a table in PostgreSQL. */
import { auth } from 'salt-ts'
import { library } from './_library.ts'
import { sqlBackend } from './_sql.ts'

export const virtualAliases = ['pgsql']

export default auth(
  sqlBackend({
    name: 'postgres',
    says: 'PostgreSQL',
    library: 'pg',
    port: 5432,
    options: ['postgres_auth', 'pgsql_auth'],
    async rows({ host, port, socket, user, password, database, statement, seconds }, given, tls, signal) {
      const { Client } = await library('postgres', 'pg', () => import('pg'))
      const ssl = tls ?? false
      const client = new Client({
        host: socket ?? host,
        port,
        user,
        password,
        database,
        ssl,
        connectionTimeoutMillis: seconds * 1000,
      })
      client.on('error', () => undefined) // the running query rejects as well
      const cut = () => void client.end().catch(() => undefined)
      signal.addEventListener('abort', cut, { once: true })
      try {
        await client.connect()
        const numbers = [...new Set(statement.values)]
        const text = statement.values.reduce(
          (before, value, n) => `${before}$${numbers.indexOf(value) + 1}${statement.parts[n + 1]}`,
          statement.parts[0] ?? '',
        )
        const { rows } = await client.query<Record<string, unknown>>(
          text,
          numbers.map((value) => given[value]),
        )
        return rows
      } finally {
        cut()
      }
    },
  }),
)
