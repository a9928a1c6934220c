import { mysqlDatabase } from '../../harness/mysql-database.ts'
import { mysqlHere } from '../../harness/needs.ts'
import { returnerContract } from '../returner.ts'

await returnerContract({
  name: 'mysql',
  needs: await mysqlHere(),
  async prepare() {
    const { query, config, drop } = await mysqlDatabase()
    return {
      config,
      rows: (jid, id) => query('select * from salt_returns where jid = ? and id = ?', [jid, id]),
      events: (tag) => query('select * from salt_events where tag = ?', [tag]),
      drop,
    }
  },
  wrongCredentials: ({ mysql }) => ({ mysql: { ...(mysql as object), pass: 'not its password' } }),
})
