/** `file.check_managed` and its kin: their arguments, and what they find. */
import { tmpdir } from 'node:os'
import { type Context, SaltInvocationError } from 'salt-ts'
import { mergedMaps } from '../_values/traverse.ts'
import type { SourceSum } from './hashes.ts'
import type { ManageOptions } from './manage.ts'
import {
  type Managed,
  managedSource,
  removeRendered,
  type SourceOptions,
  schemeOf,
} from './managed-source.ts'
import { type MetaOptions, metaChanges } from './meta.ts'
import { firstSource } from './source-list.ts'

type Given = Readonly<Record<string, unknown>>

const textOr = (value: unknown): string | undefined =>
  value === undefined || value === null || value === '' ? undefined : String(value)
const saltenvOf = (value: unknown): string => textOr(value) ?? 'base'

const labelOf = ({ seuser, serole, setype, serange }: Given) => ({
  user: textOr(seuser),
  role: textOr(serole),
  type: textOr(setype),
  range: textOr(serange),
})

/** A hash and its type, as file.get_managed returns it. */
function sumOf(given: unknown): Partial<SourceSum> {
  if (given === null || given === undefined || given === '') return {}
  if (typeof given === 'object' && !Array.isArray(given)) return given as Partial<SourceSum>
  throw new SaltInvocationError(
    `source_sum must be a map with hash_type and hsum, as file.get_managed returns it, not '${String(given)}'`,
  )
}

/** A source_hash; a map with hash_type and hsum stands for both. */
function hashOf(given: unknown): unknown {
  if (typeof given !== 'object' || given === null) return given
  const { hash_type, hsum } = sumOf(given)
  return hsum === undefined ? undefined : `${hash_type ? `${hash_type}=` : ''}${hsum}`
}

/** The names that a template of a managed file has in Salt. */
const templateVariables = ({ name, source, user, group, mode, attrs, context, defaults, kwargs }: Given) => ({
  name,
  source,
  user,
  group,
  mode,
  attrs,
  ...mergedMaps(kwargs, defaults, context),
})

export const sourceOptions = (given: Given): SourceOptions => ({
  name: String(given.name),
  template: given.template,
  variables: templateVariables(given),
  source: given.source,
  source_hash: hashOf(given.source_hash),
  source_hash_name: textOr(given.source_hash_name),
  saltenv: saltenvOf(given.saltenv),
  skip_verify: given.skip_verify === true,
  verify_ssl: given.verify_ssl !== false,
  use_etag: given.use_etag === true,
})

export const metaOptions = (given: Given): MetaOptions => ({
  name: String(given.name),
  sfn: textOr(given.sfn) ?? '',
  source: given.source,
  source_sum: sumOf(given.source_sum),
  user: given.user,
  group: given.group,
  mode: given.mode,
  attrs: textOr(given.attrs),
  saltenv: saltenvOf(given.saltenv),
  contents: given.contents,
  label: labelOf(given),
  verify_ssl: given.verify_ssl !== false,
  follow_symlinks: given.follow_symlinks === true,
})

export const manageOptions = (given: Given): ManageOptions => ({
  ...metaOptions(given),
  ret: given.ret,
  backup: textOr(given.backup) ?? '',
  makedirs: given.makedirs === true,
  show_changes: given.show_changes !== false,
  dir_mode: given.dir_mode,
  follow_symlinks: given.follow_symlinks !== false,
  skip_verify: given.skip_verify === true,
  keep_mode: given.keep_mode === true,
  encoding: textOr(given.encoding),
  encoding_errors: textOr(given.encoding_errors) ?? 'strict',
  use_etag: given.use_etag === true,
})

/** What would be changed; or why the source cannot be had. */
async function compare(given: Given, context: Context): Promise<Record<string, unknown> | string> {
  const saltenv = saltenvOf(given.saltenv)
  const [source, hash] = await firstSource(given.source, given.source_hash, saltenv, context)
  const wanted = { ...given, source, source_hash: hash }
  const isStatic = given.contents !== undefined && given.contents !== null
  const none: Managed = ['', {}, '']
  const [sfn, source_sum, comment] = isStatic ? none : await managedSource(sourceOptions(wanted), context)
  if (comment !== '') return comment
  const mode = given.keep_mode === true ? await modeOf(String(source ?? ''), saltenv, context) : null
  try {
    return await metaChanges(
      { ...metaOptions({ ...wanted, sfn, source_sum }), mode: mode ?? given.mode },
      context,
    )
  } finally {
    await removeRendered(sfn)
  }
}

async function modeOf(source: string, saltenv: string, { call }: Context): Promise<unknown> {
  const isKnown = source !== '' && ['', 'file', 'salt'].includes(schemeOf(source))
  return isKnown ? call('cp.stat_file', { path: source, saltenv, octal: true }) : null
}

/** Return the changes, or false and why there are none to tell. */
export async function managedChanges(given: Given, context: Context) {
  const changes = await compare(given, context)
  return typeof changes === 'string' ? [false, changes] : changes
}

/** Return whether a file is as it should be, and a sentence. Owner and mode of a temporary file do not count. */
export async function checkManaged(given: Given, context: Context): Promise<[boolean | null, string]> {
  const found = await compare(given, context)
  if (typeof found === 'string') return [false, found]
  const ignored = String(given.name).startsWith(tmpdir()) ? ['user', 'group', 'mode'] : []
  const changes = Object.entries(found).filter(([key]) => !ignored.includes(key))
  if (changes.length === 0) return [true, `The file ${given.name} is in the correct state`]
  const rows = changes.map(([key, value]) => `${key}: ${shown(value)}\n`)
  return [null, `The following values are set to be changed:\n${rows.join('')}`]
}

/** A map as Python writes it. */
function shown(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value)
  return `{${Object.entries(value)
    .map(([key, each]) => `'${key}': '${each}'`)
    .join(', ')}}`
}
