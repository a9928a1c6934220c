import { chmod, chown } from 'node:fs/promises'
import { CommandExecutionError, type Context } from 'salt-ts'
import { attributeChanges, changeAttributes } from './attributes.ts'
import { ownerIds } from './owners.ts'
import { attempt, errorText, exists, expandHome, isSymlink } from './paths.ts'
import { isTrusted, type Place, refuseForeignName, withPlace } from './place.ts'
import { changeLabel, type Label, wantsLabel } from './selinux.ts'
import { normalMode, statsOf } from './stats.ts'

export interface Wanted {
  readonly name: string
  readonly ret: unknown
  readonly user: unknown
  readonly group: unknown
  readonly mode: unknown
  readonly attrs?: string | undefined
  readonly follow_symlinks: boolean
  readonly label?: Label
}

/** A result in the shape of states. */
export type Result = {
  name: string
  changes: Record<string, unknown>
  comment: unknown
  result: unknown
  [more: string]: unknown
}

const isEmpty = (value: unknown): boolean => value === null || value === undefined || value === ''
export const asOwner = (value: unknown) =>
  typeof value === 'number' ? value : isEmpty(value) ? '' : String(value)

/** Give the file at a place an owner (-1: as it is) and a mode. */
export async function setPermissions(
  place: Place,
  { uid, gid, mode }: { uid: number; gid: number; mode?: number | undefined },
): Promise<void> {
  const { file, path } = place
  if (!file) throw new CommandExecutionError(`Path not found: ${path}`)
  refuseForeignName(place)
  const isNewOwner = (uid !== -1 && uid !== file.stats.uid) || (gid !== -1 && gid !== file.stats.gid)
  const isTheirs = isNewOwner && file.stats.isFile() && !isTrusted(file.stats.uid)
  if (isTheirs && mode !== undefined && (mode & SET_ID) !== 0)
    throw new CommandExecutionError(
      `${path} belongs to the user ${file.stats.uid}, who chose its content, and does not get a new owner together with set-uid or set-gid bits. Check its content, and set owner and mode one after the other`,
    )
  if (uid !== -1 || gid !== -1) await attempt(chown(file.at, uid, gid), path)
  if (file.stats.isSymbolicLink()) return
  // A new owner takes the bits for set-uid and set-gid away; those of a file of somebody else do not come back.
  const kept = isNewOwner && !isTheirs ? file.stats.mode & 0o7777 : undefined
  const bits = mode ?? kept
  if (bits !== undefined) await attempt(chmod(file.at, bits), path)
}

const SET_ID = 0o6000

/** Change the owner of a file, and return nothing, else why not. */
export async function changeOwner(
  given: string,
  user: unknown,
  group: unknown,
  follow = true,
): Promise<string | null> {
  const path = await expandHome(given)
  const owner = (value: unknown) =>
    typeof value === 'number' || value === null ? value : String(value ?? '')
  const { uid, gid, unknown } = await ownerIds(owner(user), owner(group))
  const change = async (place: Place): Promise<string | null> => {
    if (unknown !== '') return unknown
    refuseForeignName(place)
    if (!place.file) throw new CommandExecutionError(`[Errno 2] No such file or directory: '${path}'`)
    await attempt(chown(place.file.at, uid, gid), path)
    return null
  }
  const isThere = await exists(path)
  if (follow && !isThere && !(await isSymlink(path))) return `${unknown}File not found`
  // A link that leads nowhere gets the owner itself.
  return withPlace(path, change, { follow: follow && isThere })
}

/** Give a file an owner and mode. Returns the result in Salt's form, and the permissions before (`l…`) and those to change (`c…`). */
export async function checkPermissions(
  wanted: Wanted,
  context: Context,
): Promise<[Result, Record<string, unknown>]> {
  const isTest = context.opts.test === true
  const name = await expandHome(wanted.name)
  const before = await statsOf(name, undefined, wanted.follow_symlinks)
  const mode = isEmpty(wanted.mode) || before.type === 'link' ? undefined : normalMode(String(wanted.mode))
  const user = changed(wanted.user, before.user, before.uid)
  const group = changed(wanted.group, before.group, before.gid)
  const isNewMode = mode !== undefined && mode !== before.mode
  const perms = {
    luser: typeof wanted.user === 'number' ? before.uid : before.user,
    lgroup: typeof wanted.group === 'number' ? before.gid : before.group,
    lmode: before.mode,
    ...(user && { cuser: wanted.user }),
    ...(group && { cgroup: wanted.group }),
    ...(isNewMode && !isTest && { cmode: mode }),
  }
  const failures = isTest
    ? []
    : await apply(name, wanted, { user, group, mode: isNewMode || user || group ? mode : undefined })
  const changes: Record<string, unknown> = {
    ...(user && !failures.some(({ of }) => of === 'user') && { user: wanted.user }),
    ...(group && !failures.some(({ of }) => of === 'group') && { group: wanted.group }),
    ...(isNewMode && !failures.some(({ of }) => of === 'mode') && { mode }),
  }
  const comments = failures.map(({ comment }) => comment)
  if (wanted.attrs && before.type !== 'dir' && before.type !== 'link')
    await setAttributes(name, wanted.attrs, changes, comments, context)
  if (wanted.label && wantsLabel(wanted.label))
    await changeLabel(name, wanted.label, changes, comments, context)
  return [resultOf(name, wanted.ret, changes, comments, isTest), perms]
}

/** Whether an owner is wanted that the file does not have, by name or number. */
export const changed = (wanted: unknown, name: unknown, id: number): boolean =>
  !isEmpty(wanted) && wanted !== name && Number(wanted) !== id

interface Failure {
  readonly of?: 'user' | 'group' | 'mode'
  readonly comment: string
}

async function apply(
  name: string,
  wanted: Wanted,
  change: { user: boolean; group: boolean; mode: string | undefined },
): Promise<Failure[]> {
  const { uid, gid, unknown } = await ownerIds(
    change.user ? asOwner(wanted.user) : '',
    change.group ? asOwner(wanted.group) : '',
  )
  const isMissing = unknown !== ''
  const owners = isMissing ? { uid: -1, gid: -1 } : { uid, gid }
  const mode = change.mode === undefined ? undefined : Number.parseInt(change.mode, 8)
  const failed = (of: Failure['of'], value: unknown): Failure => ({
    of: of as 'user',
    comment: `Failed to change ${of} to ${value}`,
  })
  const ofOwner = [
    ...(change.user ? [failed('user', wanted.user)] : []),
    ...(change.group ? [failed('group', wanted.group)] : []),
  ]
  try {
    if (mode !== undefined && !/^[0-7]{1,4}$/.test(change.mode ?? '')) return [failed('mode', change.mode)]
    await withPlace(name, (place) => setPermissions(place, { ...owners, mode }), {
      follow: wanted.follow_symlinks,
    })
    return isMissing ? [{ comment: unknown }, ...ofOwner] : []
  } catch (error) {
    return [
      { comment: errorText(error) },
      ...ofOwner,
      ...(mode === undefined ? [] : [failed('mode', change.mode)]),
    ]
  }
}

async function setAttributes(
  name: string,
  attrs: string,
  changes: Record<string, unknown>,
  comments: string[],
  context: Context,
): Promise<void> {
  const change = await attributeChanges(name, attrs, context)
  if (!change || (change.added === '' && change.removed === '')) return
  const isSet = context.opts.test === true || (await changeAttributes(name, change, context))
  if (!isSet) comments.push(`Failed to change attributes to ${attrs}`)
  else changes.attrs = { old: change.old, new: attrs }
}

function resultOf(
  name: string,
  given: unknown,
  changes: Record<string, unknown>,
  failures: readonly string[],
  isTest: boolean,
): Result {
  const known = typeof given === 'object' && given !== null ? (given as Partial<Result>) : {}
  // As in Salt, a comment that is a list is left out, but those of failures are then a list, too.
  const isList = known.comment !== undefined && typeof known.comment !== 'string'
  const comments = [...(isList ? [] : [known.comment ?? '']), ...failures].filter((comment) => comment !== '')
  const all = { ...known.changes, ...changes }
  const result = failures.length === 0 && (known.result ?? true)
  return {
    ...known,
    name: known.name ?? name,
    changes: all,
    comment: isList ? comments : comments.join('; '),
    result: isTest && Object.keys(all).length > 0 ? null : result,
  }
}
