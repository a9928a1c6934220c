/** Values that the masters of a cluster share, in the table salt_shared of PostgreSQL. */
import type { Returner } from 'salt-ts'
import type { SqlDatabase, SqlDialect } from './_sql-database.ts'

/** Lock number of changes, above that of migrations: revisions become visible in their order. */
const SHARED = 1001
/** A value that somebody gave a revision that is not from 1 to the last one given out counts as absent. */
const IS_GIVEN_OUT = `revision between 1 and (select last_value from seq_salt_shared_revision)`
/** The longest value that is given out: the masters store no longer ones. */
const MAX_BYTES = 4 * 1024 * 1024

export const postgresShared = ({ query, transaction }: SqlDatabase, { lock }: Pick<SqlDialect, 'lock'>) =>
  ({
    async sharedSince(cluster, revision, limit) {
      const rows = await query(
        `select name, revision, case when octet_length(value) <= ${MAX_BYTES} then encode(value, 'base64') end as value
          from salt_shared where cluster = ? and revision > ? and ${IS_GIVEN_OUT}
          order by revision fetch first ? rows with ties`,
        [cluster, revision, limit],
      )
      return rows.map(({ name, value, revision }) => ({
        key: name ?? '',
        value: Buffer.from(value ?? '', 'base64'),
        revision: Number(revision),
      }))
    },
    putShared: (cluster, key, value, expected) =>
      transaction(async (query) => {
        await lock?.(query, [SHARED])
        const [old] = await query(
          `select revision from salt_shared
            where cluster = ? and name = ? and ${IS_GIVEN_OUT}`,
          [cluster, key],
        )
        if (Number(old?.revision ?? 0) !== expected) return undefined
        const [row] = await query(
          `insert into salt_shared (cluster, name, value, revision)
            values (?, ?, decode(?, 'base64'), nextval('seq_salt_shared_revision'))
            on conflict (cluster, name) do update set value = excluded.value, revision = excluded.revision
            returning revision`,
          [cluster, key, Buffer.from(value).toString('base64')],
        )
        return Number(row?.revision)
      }),
    async removeShared(cluster, key, expected) {
      await query('delete from salt_shared where cluster = ? and name = ? and revision = ?', [
        ...[cluster, key, expected],
      ])
    },
  }) satisfies Partial<Returner>

export const sharedSchema = {
  seq_salt_shared_revision: 'create sequence seq_salt_shared_revision',
  salt_shared: `create table salt_shared (
    cluster varchar(255) not null, name varchar(512) not null, value bytea not null, revision bigint not null,
    primary key (cluster, name))`,
  idx_salt_shared_revision: 'create index idx_salt_shared_revision on salt_shared (cluster, revision)',
}
