/** What privileges can be granted on, and who has them. */
import { type Context, SaltInvocationError } from 'salt-ts'
import { query, type Where } from './psql.ts'
import { functionText, ident, literal } from './quote.ts'
import { arrayItems } from './texts.ts'

const LETTERS: Readonly<Record<string, string>> = {
  a: 'INSERT',
  C: 'CREATE',
  D: 'TRUNCATE',
  c: 'CONNECT',
  t: 'TRIGGER',
  r: 'SELECT',
  U: 'USAGE',
  T: 'TEMPORARY',
  w: 'UPDATE',
  X: 'EXECUTE',
  x: 'REFERENCES',
  d: 'DELETE',
}

interface ObjectType {
  /** Letters of its privileges. */
  readonly letters: string
  /** Column with its access list, column with its owner, and from where it is selected. */
  readonly from: (name: string, schema: string) => readonly [acl: string, owner: string, from: string]
}

const inSchema = (kinds: string) => (name: string, schema: string) =>
  [
    'relacl',
    'relowner',
    `pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = ${literal(schema)} AND c.relname = ${literal(name)} AND c.relkind IN (${kinds})`,
  ] as const

const TYPES: Readonly<Record<string, ObjectType>> = {
  table: { letters: 'arwdDxt', from: inSchema("'r', 'v', 'm', 'f', 'p'") },
  sequence: { letters: 'rwU', from: inSchema("'S'") },
  schema: {
    letters: 'UC',
    from: (name) => ['nspacl', 'nspowner', `pg_catalog.pg_namespace WHERE nspname = ${literal(name)}`],
  },
  function: {
    letters: 'X',
    from: (name, schema) => [
      'proacl',
      'proowner',
      `pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
        WHERE n.nspname = ${literal(schema)} AND p.oid::regprocedure::text = ${literal(name)}`,
    ],
  },
  tablespace: {
    letters: 'C',
    from: (name) => ['spcacl', 'spcowner', `pg_catalog.pg_tablespace WHERE spcname = ${literal(name)}`],
  },
  language: {
    letters: 'U',
    from: (name) => ['lanacl', 'lanowner', `pg_catalog.pg_language WHERE lanname = ${literal(name)}`],
  },
  database: {
    letters: 'CTc',
    from: (name) => ['datacl', 'datdba', `pg_catalog.pg_database WHERE datname = ${literal(name)}`],
  },
}

/** An object of the server. `type` is a word of {@link TYPES}, or `group`. */
export interface Target {
  readonly type: string
  readonly name: string
  readonly schema: string
}

/** @throws SaltInvocationError for an unknown type */
export function targetOf(type: string, name: string, schema: string): Target {
  const lower = type.toLowerCase()
  if (lower === 'group' || Object.hasOwn(TYPES, lower)) return { type: lower, name, schema }
  throw new SaltInvocationError(`Invalid object_type: ${lower} provided`)
}

const typeOf = ({ type }: Target): ObjectType => TYPES[type] as ObjectType

export const allPrivileges = (target: Target): string[] =>
  [...typeOf(target).letters].map((letter) => LETTERS[letter] as string)

/** Return the privileges in a text with commas. @throws SaltInvocationError for one that the object cannot have */
export function privilegesIn(text: string | undefined, target: Target): string[] {
  if (target.type === 'group') {
    if (!text) return []
    throw new SaltInvocationError('The privileges option should not be set for object_type group')
  }
  const known = [...allPrivileges(target), 'ALL']
  const words = (text ?? '').toUpperCase().split(/\s?,\s?/)
  if (words.every((word) => known.includes(word))) return words
  throw new SaltInvocationError(`Invalid privilege(s): ${text ?? ''} provided for object ${target.type}`)
}

type Granted = Record<string, Record<string, boolean>>

/** Return the privileges of each role on an object, with whether it may grant them. */
export async function privilegesOn(target: Target, where: Where, context: Context): Promise<Granted> {
  const [acl, , from] = typeOf(target).from(target.name, target.schema)
  const rows = await query(`SELECT ${acl} AS name FROM ${from}`, where, context)
  return Object.fromEntries(rows.flatMap(({ name = '' }) => arrayItems(name)).map(grantIn))
}

/** Read an access list's item: `role=r*w/grantor`, whose names have quotes if they need them. */
function grantIn(item: string): [role: string, privileges: Record<string, boolean>] {
  const [, quoted, plain = '', letters = ''] = /^(?:"((?:[^"]|"")*)"|([^=]*))=([a-zA-Z*]*)/.exec(item) ?? []
  const role = quoted?.replaceAll('""', '"') ?? plain
  const privileges = [...letters.matchAll(/([a-zA-Z])(\*?)/g)].flatMap(([, letter = '', star]) => {
    const word = LETTERS[letter]
    return word === undefined ? [] : [[word, star === '*'] as const]
  })
  return [role === '' ? 'public' : role, Object.fromEntries(privileges)]
}

/** Return the members of a group, with whether they may add others. */
export async function membersOf(
  group: string,
  where: Where,
  context: Context,
): Promise<Record<string, boolean>> {
  const sql = `SELECT r.rolname, m.admin_option FROM pg_catalog.pg_auth_members m
    JOIN pg_catalog.pg_roles r ON m.member = r.oid JOIN pg_catalog.pg_roles g ON m.roleid = g.oid
    WHERE g.rolname = ${literal(group)} ORDER BY r.rolname`
  const rows = await query(sql, where, context)
  return Object.fromEntries(rows.map(({ rolname, admin_option }) => [rolname, admin_option === 't']))
}

export async function ownerOf(target: Target, where: Where, context: Context): Promise<string | undefined> {
  const [, owner, from] = typeOf(target).from(target.name, target.schema)
  const sql = `SELECT pg_catalog.pg_get_userbyid(${owner}) AS name FROM ${from}`
  return (await query(sql, where, context))[0]?.name
}

/** Whether a target stands for all tables or sequences of its schema. */
export const isAll = ({ type, name }: Target): boolean =>
  (type === 'table' || type === 'sequence') && name.toUpperCase() === 'ALL'

/** Return the object as GRANT and REVOKE name it. */
export function onObject(target: Target): string {
  const { type, name, schema } = target
  const word = type.toUpperCase()
  if (isAll(target)) return `ALL ${word}S IN SCHEMA ${ident(schema)}`
  if (type === 'function') return `${word} ${functionText(name)}`
  return `${word} ${type === 'table' || type === 'sequence' ? `${ident(schema)}.` : ''}${ident(name)}`
}
