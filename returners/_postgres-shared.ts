/** Values that the masters of a cluster share, in the table salt_shared of PostgreSQL. */
import type { Returner } from 'salt-ts'
import type { SqlDatabase, SqlDialect } from './_sql-database.ts'

/** Lock number of changes, above that of migrations: revisions become visible in their order. */
const SHARED = 1001
/** A value that somebody gave a revision that is not from 1 to this counts as absent. */
const MAX_REVISION = Number.MAX_SAFE_INTEGER

export const postgresShared = ({ query, transaction }: SqlDatabase, { lock }: Pick<SqlDialect, 'lock'>) =>
  ({
    async sharedSince(cluster, revision, limit) {
      const rows = await query(
        `select name, encode(value, 'base64') as value, revision from salt_shared
          where cluster = ? and revision > ? and revision <= ${MAX_REVISION} order by revision limit ?`,
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
            where cluster = ? and name = ? and revision between 1 and ${MAX_REVISION}`,
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
  idx_salt_shared_revision: 'create unique index idx_salt_shared_revision on salt_shared (cluster, revision)',
}
