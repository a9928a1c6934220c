import { join } from 'node:path'
import Sqlite from 'libsql'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { returnerContract } from '../returner.ts'

await returnerContract({
  name: 'sqlite3',
  async prepare() {
    const folder = await temporaryFolder('salt-ts-sqlite-')
    const database = join(folder, 'salt.db')
    const rows = (sql: string, values: string[]) => {
      const connection = new Sqlite(database)
      const found = connection.prepare(sql).all(values)
      connection.close()
      return found
    }
    return {
      config: { sqlite3: { database, timeout: 5.0 } },
      rows: async (jid, id) => rows('select * from salt_returns where jid = ? and id = ?', [jid, id]),
      events: async (tag) => rows('select * from salt_events where tag = ?', [tag]),
      drop: () => removeFolder(folder),
    }
  },
})
