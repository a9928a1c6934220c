/** `file.manage_file`: give a file a content, owner and mode. */
import { dirname } from 'node:path'
import { CommandExecutionError, type Context } from 'salt-ts'
import { withoutPassword } from '../_cp/http.ts'
import { keepBackup } from './backups.ts'
import { type Compared, diffBetween } from './compare.ts'
import { encode } from './encode.ts'
import { makeParents } from './folders.ts'
import { digest, type SourceSum } from './hashes.ts'
import { isOnServer, REMOTE, removeRendered, schemeOf } from './managed-source.ts'
import { diffOrReason } from './meta.ts'
import { ownerIds } from './owners.ts'
import { errorText, expandHome, isFile, isFolder, isSymlink } from './paths.ts'
import { asOwner, checkPermissions, type Result } from './permissions.ts'
import { heldFile, type Place, refuseForeignName, withPlace } from './place.ts'
import { withFile } from './reading.ts'
import type { Label } from './selinux.ts'
import { modeText, normalMode } from './stats.ts'
import { copyInto, replaceContent } from './text.ts'

export interface ManageOptions {
  readonly name: string
  readonly sfn: unknown
  readonly ret: unknown
  readonly source: unknown
  readonly source_sum: Partial<SourceSum>
  readonly user: unknown
  readonly group: unknown
  readonly mode: unknown
  readonly attrs: string | undefined
  readonly saltenv: string
  readonly backup: string
  readonly makedirs: boolean
  readonly show_changes: boolean
  readonly contents: unknown
  readonly dir_mode: unknown
  readonly follow_symlinks: boolean
  readonly skip_verify: boolean
  readonly keep_mode: boolean
  readonly encoding: string | undefined
  readonly encoding_errors: string
  readonly label: Label
  readonly verify_ssl: boolean
  readonly use_etag: boolean
}

/** The file is not as it was wanted; the message is the comment of the result. */
class Refused extends Error {}

/** What the file is to contain: another file, or a content; undefined if it is only to exist. */
interface Content {
  readonly from: Compared | undefined
  readonly source: string
  readonly sum: Partial<SourceSum>
  readonly mode: unknown
}

export async function manageFile(wanted: ManageOptions, context: Context): Promise<Result> {
  const name = await expandHome(wanted.name)
  const ret = startOf(wanted.ret, name)
  try {
    const content = await contentOf(wanted, context)
    const isThere = (await isFile(name)) || (await isSymlink(name))
    return await (isThere ? update : create)(name, ret, content, wanted, context)
  } catch (error) {
    if (error instanceof Refused) return { ...ret, result: false, comment: error.message }
    throw error
  } finally {
    await removeRendered(wanted.sfn)
  }
}

function startOf(given: unknown, name: string): Result {
  const isMap = typeof given === 'object' && given !== null && Object.keys(given).length > 0
  if (!isMap) return { name, changes: {}, comment: '', result: true }
  const known = given as Result
  return { ...known, changes: { ...known.changes } }
}

async function contentOf(wanted: ManageOptions, context: Context): Promise<Content> {
  const { contents, encoding, encoding_errors, saltenv, keep_mode } = wanted
  const source = wanted.source ? String(wanted.source) : ''
  const fetched = source === '' ? undefined : await sourceOf(source, wanted, context)
  const isKept = keep_mode && ['', 'file', 'salt'].includes(schemeOf(source)) && source !== ''
  const kept = isKept ? await context.call('cp.stat_file', { path: source, saltenv, octal: true }) : null
  const mode = kept ?? wanted.mode
  if (contents === undefined || contents === null)
    return { from: fetched?.path, source, sum: fetched?.sum ?? {}, mode }
  if (contents instanceof Uint8Array) return { from: Buffer.from(contents), source, sum: {}, mode }
  return { from: encode(String(contents), encoding || 'utf-8', encoding_errors), source, sum: {}, mode }
}

/** The path of a source, whose hash is verified if it comes from elsewhere than the master. */
async function sourceOf(
  source: string,
  { sfn, source_sum, saltenv, skip_verify, use_etag, verify_ssl }: ManageOptions,
  { call, opts }: Context,
): Promise<{ path: string; sum: Partial<SourceSum> }> {
  const given = sfn ? String(sfn) : undefined
  const path = given ?? (await call('cp.cache_file', { path: source, saltenv, verify_ssl, use_etag }))
  if (typeof path !== 'string' || path === '')
    throw new Refused(`Source file '${withoutPassword(source)}' not found`)
  const hash_type = source_sum.hash_type ?? String(opts.hash_type ?? 'sha256')
  const hsum = source_sum.hsum?.toLowerCase()
  if (given === undefined && hsum === undefined) return { path, sum: {} }
  if (isOnServer(source) || skip_verify || use_etag)
    return { path, sum: { hash_type, ...(hsum && { hsum }) } }
  if (hsum === undefined && REMOTE.includes(schemeOf(source)))
    throw new Refused(
      `Unable to verify upstream hash of source file ${withoutPassword(source)}, please set source_sum or set skip_verify to True`,
    )
  if (hsum === undefined) return { path, sum: {} }
  const actual = await digest(path, hash_type)
  if (actual === hsum) return { path, sum: { hash_type, hsum } }
  throw new Refused(
    `Specified ${hash_type} checksum for ${withoutPassword(source)} (${hsum}) does not match actual checksum (${actual}). If the 'source_hash' value refers to a remote file with multiple possible matches, then it may be necessary to set 'source_hash_name'.`,
  )
}

async function update(
  name: string,
  ret: Result,
  { from, mode, source }: Content,
  wanted: ManageOptions,
  context: Context,
): Promise<Result> {
  const { follow_symlinks, show_changes, contents } = wanted
  const becomesFile = !follow_symlinks && (await isSymlink(name))
  if (from !== undefined) {
    const isStatic = contents !== undefined && contents !== null
    const diff = becomesFile
      ? 'Replace symbolic link with regular file'
      : await changeOf(name, from, { template: isStatic || source !== '', show_changes }, context)
    if (diff !== '') {
      await commit(name, from, wanted, mode, context)
      ret.changes = { ...ret.changes, diff }
    }
  }
  const [result] = await checkPermissions(permissionsOf(name, ret, mode, wanted), context)
  const hasChanges = Object.keys(result.changes).length > 0
  if (hasChanges) result.comment = `File ${name} ${context.opts.test === true ? 'not ' : ''}updated`
  else if (result.result) result.comment = `File ${name} is in the correct state`
  return result
}

async function changeOf(
  name: string,
  from: Compared,
  options: { template: boolean; show_changes: boolean },
  context: Context,
): Promise<string> {
  if (options.show_changes) return diffOrReason(name, from, options.template, context)
  return diffBetween(name, from, options, context).catch(errorText)
}

async function create(
  name: string,
  ret: Result,
  { from, mode, source }: Content,
  wanted: ManageOptions,
  context: Context,
): Promise<Result> {
  const isTest = context.opts.test === true
  const isEmpty = from === undefined
  const changes = isEmpty ? { new: `file ${name} created` } : { diff: 'New file' }
  if (isTest && (await isFolder(dirname(name))))
    return {
      ...ret,
      changes: { ...ret.changes, ...changes },
      result: null,
      comment: `File ${name} not updated`,
    }
  if (!(await isFolder(dirname(name)))) await makeParentsOf(name, mode, wanted, context)
  await commit(name, from ?? Buffer.alloc(0), wanted, mode, context)
  ret.changes = { ...ret.changes, ...changes }
  if (isEmpty && source === '') ret.comment = 'Empty file'
  const ofUmask = modeText(0o666 & ~process.umask())
  const [result] = await checkPermissions(permissionsOf(name, ret, mode ?? ofUmask, wanted), context)
  if (result.comment === '') result.comment = `File ${name} updated`
  return result
}

async function makeParentsOf(
  name: string,
  mode: unknown,
  { makedirs, dir_mode, user, group }: ManageOptions,
  { opts }: Context,
): Promise<void> {
  if (!makedirs || opts.test === true) throw new Refused('Parent directory not present')
  const ofFile = mode === null || mode === undefined ? undefined : withSearch(String(mode))
  const ofFolder = dir_mode === null || dir_mode === undefined ? ofFile : String(dir_mode)
  const owners = { user: asOwner(user), group: asOwner(group) }
  await makeParents(name, { ...owners, mode: normalMode(ofFolder) })
}

/** Return the mode of a folder for a file with this mode: those with any right to the file may search the folder. */
const withSearch = (mode: string): string =>
  Array.from(mode.slice(-3), (digit) => (digit === '0' ? digit : String(Number(digit) | 1))).join('')

function permissionsOf(name: string, ret: Result, mode: unknown, wanted: ManageOptions) {
  const { user, group, attrs, label, follow_symlinks } = wanted
  return { name, ret, user, group, mode, attrs, label, follow_symlinks }
}

/** Put the content in place, after a backup. A new file is its owner's alone until it has its mode. */
async function commit(
  name: string,
  from: Compared,
  wanted: ManageOptions,
  mode: unknown,
  context: Context,
): Promise<void> {
  if (context.opts.test === true) return
  const { backup, follow_symlinks } = wanted
  const kept = await context.call('config.backup_mode', { backup })
  const put = async (place: Place) => {
    if (kept === 'minion' || kept === 'both') await keepBackup(place, context)
    const free = place.file?.stats.isSymbolicLink() ? { ...place, file: undefined } : place
    const created = { mode: 0o600, exact: await ownerOfSetId(free, wanted, mode) }
    if (typeof from === 'string')
      await fromSource(from, (source) => copyInto(free, source, { ...created, signal: context.signal }))
    else await replaceContent(free, (file) => file.writeFile(from), created)
  }
  await withPlace(name, put, { follow: follow_symlinks }).catch((error) => {
    if (error instanceof CommandExecutionError) throw new Refused(`Failed to commit change: ${error.message}`)
    throw new Refused(`Failed to commit change: ${errorText(error, name)}`)
  })
}

/** Open a source, but not by a link that others may have planted. */
const fromSource = (path: string, work: Parameters<typeof withFile<void>>[1]): Promise<void> =>
  withPlace(path, (source) => {
    refuseForeignName(source)
    return withFile(heldFile(source).at, work, { path })
  })

/** Owner and mode of a file that is to have set-uid or set-gid bits: it gets its owner before anybody else can exchange it. */
async function ownerOfSetId({ file }: Place, { user, group }: ManageOptions, wanted: unknown) {
  const mode = Number.parseInt(normalMode(wanted as string | null) ?? '0', 8)
  if ((mode & 0o6000) === 0) return undefined
  const { uid, gid } = await ownerIds(asOwner(user), asOwner(group))
  return { uid, gid, mode: (file?.stats.mode ?? 0o600) & 0o777 }
}
