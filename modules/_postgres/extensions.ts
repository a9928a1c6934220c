import type { Context } from 'salt-ts'
import { execute, query, type Row, type Where } from './psql.ts'
import { ident, literal, unquoted } from './quote.ts'
import { isOlder } from './texts.ts'

type Rows = Record<string, Row>

const byName = (rows: readonly Row[], column: string): Rows =>
  Object.fromEntries(rows.flatMap((row) => (row[column] === undefined ? [] : [[row[column], row]])))

export const availableExtensions = async (where: Where, context: Context): Promise<Rows> =>
  byName(await query('select * from pg_available_extensions()', where, context), 'name')

export async function installedExtensions(where: Where, context: Context): Promise<Rows> {
  const sql =
    'select a.*, b.nspname as schema_name from pg_extension a, pg_namespace b where a.extnamespace = b.oid'
  return byName(await query(sql, where, context), 'extname')
}

export const find = (rows: Rows, name: string): Row | undefined =>
  Object.hasOwn(rows, name) ? rows[name] : undefined

interface Wanted {
  readonly ext_version?: string | undefined
  readonly schema?: string | undefined
}

/** Return what is known, and what would have to be done for an extension, in Salt's words. */
export async function extensionState(
  name: string,
  { ext_version, schema }: Wanted,
  where: Where,
  context: Context,
): Promise<string[]> {
  const found = find(await installedExtensions(where, context), name)
  if (!found) return ['EXTENSION NOT INSTALLED']
  const isOutdated = ext_version !== undefined && isOlder(found.extversion ?? '', unquoted(ext_version))
  const isElsewhere = schema !== undefined && found.extrelocatable === 't' && found.schema_name !== schema
  return [
    'EXTENSION INSTALLED',
    ...(isOutdated ? ['EXTENSION TO UPGRADE'] : []),
    ...(isElsewhere ? ['EXTENSION TO MOVE'] : []),
  ]
}

export async function isAvailable(name: string, where: Where, context: Context): Promise<boolean> {
  const names = Object.keys(await availableExtensions(where, context))
  return names.some((each) => each.toLowerCase() === name.toLowerCase())
}

export interface Creation extends Wanted {
  readonly if_not_exists: boolean
  readonly from_version?: string | undefined
}

/** Create an extension, or move and update it. True if it is then as wanted. */
export async function createExtension(
  name: string,
  wanted: Creation,
  where: Where,
  context: Context,
): Promise<boolean> {
  const before = await extensionState(name, wanted, where, context)
  const statements = before.includes('EXTENSION INSTALLED')
    ? changes(name, wanted, before)
    : [creation(name, wanted)]
  if (statements.length > 0 && (await isAvailable(name, where, context)))
    await execute(statements.join('; '), where, context)
  const { retcode } = context
  const after = await extensionState(name, wanted, where, context)
  if (after.length === 1 && after[0] === 'EXTENSION INSTALLED') return true
  context.retcode = retcode
  context.log.info(`Failed to create ext: ${name}`)
  return false
}

function creation(name: string, { if_not_exists, schema, ext_version, from_version }: Creation): string {
  const options = [
    ...(schema ? [`SCHEMA ${ident(schema)}`] : []),
    ...(ext_version ? [`VERSION ${literal(unquoted(ext_version))}`] : []),
    ...(from_version ? [`FROM ${literal(unquoted(from_version))}`] : []),
  ]
  const what = `CREATE EXTENSION ${if_not_exists ? 'IF NOT EXISTS ' : ''}${ident(name)}`
  return options.length > 0 ? `${what} WITH ${options.join(' ')}` : what
}

function changes(name: string, { schema, ext_version }: Wanted, state: readonly string[]): string[] {
  return [
    ...(schema && state.includes('EXTENSION TO MOVE')
      ? [`ALTER EXTENSION ${ident(name)} SET SCHEMA ${ident(schema)}`]
      : []),
    ...(ext_version && state.includes('EXTENSION TO UPGRADE')
      ? [`ALTER EXTENSION ${ident(name)} UPDATE TO ${literal(unquoted(ext_version))}`]
      : []),
  ]
}
