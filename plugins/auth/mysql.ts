/** Users of a table in MySQL or MariaDB. */
import { auth } from 'salt-ts'
import { library } from './_library.ts'
import { sqlBackend } from './_sql.ts'

const ILLEGAL_MIX = 1267

/** Return no rows if the name has characters that the column's character set lacks: no row can have that name. */
function nobody(error: unknown): [] {
  if ((error as { readonly errno?: unknown }).errno === ILLEGAL_MIX) return []
  throw error
}

export default auth(
  sqlBackend({
    name: 'mysql',
    says: 'MySQL',
    library: 'mysql2',
    port: 3306,
    options: ['mysql_auth'],
    async rows(
      { host, port, socket, user, password, database, statement, insecure, seconds },
      given,
      tls,
      signal,
    ) {
      const { createConnection } = await library('mysql', 'mysql2', () => import('mysql2/promise'))
      const opening = createConnection({
        host,
        port,
        user,
        password,
        database,
        connectTimeout: seconds * 1000,
        ...(socket !== undefined && { socketPath: socket }),
        ...(tls && { ssl: { ...tls, verifyIdentity: !insecure } }),
      })
      const cut = () => void opening.then((late) => late.destroy()).catch(() => undefined)
      signal.addEventListener('abort', cut, { once: true })
      try {
        const connection = await opening
        const values = statement.values.map((value) => given[value])
        const [rows] = await connection.execute(statement.parts.join('?'), values).catch(nobody)
        return Array.isArray(rows) ? (rows as Record<string, unknown>[]) : []
      } finally {
        cut()
      }
    },
  }),
)
