import type { Context } from 'salt-ts'
import type { Outcome } from '../_program/run.ts'
import { executeSecretly, query, serverVersion, type Where } from './psql.ts'
import { ident } from './quote.ts'
import { isOlder } from './texts.ts'

const IS_OURS = "NOT LIKE 'pg\\_%' AND ns.nspname <> 'information_schema'"
const NAME = "quote_ident(ns.nspname) || '.' || quote_ident(c.relname)"
const RELATIONS = `pg_catalog.pg_class c JOIN pg_catalog.pg_namespace ns ON c.relnamespace = ns.oid
  WHERE ns.nspname ${IS_OURS}`
const ROUTINES = `pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace ns ON p.pronamespace = ns.oid
  WHERE ns.nspname ${IS_OURS}`

/** Queries for the names of what has an owner, by the word that ALTER takes. Tables come before their sequences. */
function queriesFor(version: string): readonly (readonly [kind: string, sql: string])[] {
  const routines: readonly (readonly [string, string])[] = isOlder(version, '11')
    ? [
        ['FUNCTION', `SELECT p.oid::regprocedure::text AS n FROM ${ROUTINES} AND NOT p.proisagg`],
        ['AGGREGATE', `SELECT p.oid::regprocedure::text AS n FROM ${ROUTINES} AND p.proisagg`],
      ]
    : [['ROUTINE', `SELECT p.oid::regprocedure::text AS n FROM ${ROUTINES}`]]
  return [
    [
      'SCHEMA',
      `SELECT quote_ident(ns.nspname) AS n FROM pg_catalog.pg_namespace ns WHERE ns.nspname ${IS_OURS}`,
    ],
    ['TABLE', `SELECT ${NAME} AS n FROM ${RELATIONS} AND c.relkind IN ('r', 'v', 'm', 'f', 'p')`],
    ...routines,
    ['SEQUENCE', `SELECT ${NAME} AS n FROM ${RELATIONS} AND c.relkind = 'S'`],
  ]
}

/** Make a role the owner of a database and of all that is in it, except the server's own; in one transaction. */
export async function giveTo(
  database: string,
  owner: string,
  where: Where,
  context: Context,
): Promise<Outcome> {
  const there = { ...where, maintenance_db: database }
  const statements = [`ALTER DATABASE ${ident(database)} OWNER TO ${ident(owner)}`]
  for (const [kind, sql] of queriesFor(await serverVersion(there, context))) {
    const rows = await query(sql, there, context)
    statements.push(...rows.map(({ n }) => `ALTER ${kind} ${n} OWNER TO ${ident(owner)}`))
  }
  const { pid, retcode, stdout, stderr } = await executeSecretly(statements.join(';\n'), there, context)
  return { pid, retcode, stdout: stdout.trimEnd(), stderr: stderr.trimEnd() }
}
