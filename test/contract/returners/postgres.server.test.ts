import { postgresHere } from '../../harness/needs.ts'
import { postgresDatabase } from '../../harness/postgres-database.ts'
import { returnerContract } from '../returner.ts'

for (const name of ['postgres', 'pgjsonb'])
  await returnerContract({
    name,
    needs: await postgresHere(),
    async prepare() {
      const { client, config, drop } = await postgresDatabase(`returner.${name}`)
      const rows = async (sql: string, values: string[]) => (await client.query(sql, values)).rows
      return {
        config,
        rows: (jid, id) => rows('select * from salt_returns where jid = $1 and id = $2', [jid, id]),
        setRevision: (cluster, key, revision) =>
          rows('update salt_shared set revision = $3 where cluster = $1 and name = $2', [
            cluster,
            key,
            revision,
          ]),
        damagedRevisions: ['0', '-5', '1000000', '9007199254740993'],
        putJunk: (cluster, bytes) =>
          rows(
            "insert into salt_shared values ($1, $2, decode($3, 'base64'), nextval('seq_salt_shared_revision'))",
            [...[cluster, `junk${bytes}`, Buffer.alloc(bytes).toString('base64')]],
          ),
        canBeLong: true,
        events: (tag) => rows('select * from salt_events where tag = $1', [tag]),
        drop,
      }
    },
    wrongCredentials: (config) => ({ ...config, [`returner.${name}.user`]: 'nobody_has_that_name' }),
  })
