import type { Context } from 'salt-ts'
import { attributeChanges } from './attributes.ts'
import { type Compared, diffBetween, hidesTemplates } from './compare.ts'
import { digest, type SourceSum } from './hashes.ts'
import { errorText, exists, expandHome, lstatOf } from './paths.ts'
import { changed } from './permissions.ts'
import { type Label, labelChanges, wantsLabel } from './selinux.ts'
import { normalMode, statsOf } from './stats.ts'

export interface MetaOptions {
  readonly name: string
  readonly sfn: string
  readonly source: unknown
  readonly source_sum: Partial<SourceSum>
  readonly user: unknown
  readonly group: unknown
  readonly mode: unknown
  readonly attrs: string | undefined
  readonly saltenv: string
  readonly contents: unknown
  readonly label: Label
  readonly verify_ssl: boolean
  readonly follow_symlinks: boolean
}

/** Return what would have to change so that a file is as it should be; empty if nothing. */
export async function metaChanges(wanted: MetaOptions, context: Context): Promise<Record<string, unknown>> {
  const name = await expandHome(wanted.name)
  if (!(await lstatOf(name))) return { newfile: wanted.name }
  const found = await statsOf(name, undefined, wanted.follow_symlinks)
  const mode = normalMode(wanted.mode as string | number | null | undefined)
  const attrs = wanted.attrs ? await attributeChanges(name, wanted.attrs, context) : undefined
  return {
    ...(await contentChanges(name, wanted, context)),
    ...(wanted.contents !== undefined &&
      wanted.contents !== null &&
      (await textChanges(name, wanted, context))),
    ...(changed(wanted.user, found.user, found.uid) && { user: wanted.user }),
    ...(changed(wanted.group, found.group, found.gid) && { group: wanted.group }),
    ...(mode !== undefined && mode !== found.mode && { mode }),
    ...(attrs && attrs.added + attrs.removed !== '' && { attrs: wanted.attrs }),
    ...(wantsLabel(wanted.label) && (await selinuxChanges(name, wanted.label, context))),
  }
}

async function contentChanges(
  name: string,
  { sfn, source, source_sum, saltenv, verify_ssl }: MetaOptions,
  context: Context,
): Promise<object> {
  const { hsum, hash_type } = source_sum
  if (hsum === undefined || hash_type === undefined) return {}
  if ((await exists(name)) && (await digest(name, hash_type)) === hsum.toLowerCase()) return {}
  const path = sfn || (source ? await fetched(String(source), saltenv, verify_ssl, context) : '')
  if (path === '') return { sum: 'Checksum differs' }
  return { diff: await diffOrReason(name, path, true, context) }
}

async function fetched(
  source: string,
  saltenv: string,
  verify_ssl: boolean,
  { call }: Context,
): Promise<string> {
  const path = await call('cp.cache_file', { path: source, saltenv, verify_ssl })
  return typeof path === 'string' ? path : ''
}

async function textChanges(name: string, { contents }: MetaOptions, context: Context): Promise<object> {
  const content = contents instanceof Uint8Array ? Buffer.from(contents) : Buffer.from(String(contents))
  const diff = await diffOrReason(name, content, false, context)
  if (diff === '') return {}
  return { diff: (await hidesTemplates(context)) ? '<Obfuscated Template>' : diff }
}

/** The diff of two files, or why there is none. */
export async function diffOrReason(
  before: string,
  after: Compared,
  template: boolean,
  context: Context,
): Promise<string> {
  try {
    return await diffBetween(before, after, { template }, context)
  } catch (error) {
    return errorText(error)
  }
}

async function selinuxChanges(name: string, label: Label, context: Context): Promise<object> {
  const changes = await labelChanges(name, label, context)
  if (!changes) return { selinux: `No selinux context information is available for ${name}` }
  return Object.keys(changes).length > 0 ? { selinux: changes } : {}
}
