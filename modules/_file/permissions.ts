import { chmod, chown, lchown } from 'node:fs/promises'
import { ownerIds } from './owners.ts'
import { errorText, expandHome } from './paths.ts'
import { normalMode, statsOf } from './stats.ts'

interface Wanted {
  readonly name: string
  readonly ret: unknown
  readonly user: unknown
  readonly group: unknown
  readonly mode: unknown
  readonly follow_symlinks: boolean
}

type Result = {
  name: string
  changes: Record<string, unknown>
  comment: unknown
  result: unknown
}

const isEmpty = (value: unknown): boolean => value === null || value === undefined || value === ''
const owner = (value: unknown) => (typeof value === 'number' ? value : isEmpty(value) ? '' : String(value))

/** Give a file an owner and mode. Returns the result in Salt's form, and the permissions before (`l…`) and those to change (`c…`). */
export async function checkPermissions(wanted: Wanted, isTest: boolean) {
  const name = await expandHome(wanted.name)
  const before = await statsOf(name, undefined, wanted.follow_symlinks)
  const mode = isEmpty(wanted.mode) || before.type === 'link' ? undefined : normalMode(String(wanted.mode))
  const user = changed(wanted.user, before.user, before.uid)
  const group = changed(wanted.group, before.group, before.gid)
  const perms = {
    luser: typeof wanted.user === 'number' ? before.uid : before.user,
    lgroup: typeof wanted.group === 'number' ? before.gid : before.group,
    lmode: before.mode,
    ...(user && { cuser: wanted.user }),
    ...(group && { cgroup: wanted.group }),
    ...(mode !== undefined && mode !== before.mode && !isTest && { cmode: mode }),
  }
  const changes = {
    ...(user && { user: wanted.user }),
    ...(group && { group: wanted.group }),
    ...(mode !== undefined && mode !== before.mode && { mode }),
  }
  const failures = isTest
    ? []
    : await apply(name, wanted, { user, group, mode, isLink: before.type === 'link' })
  return [resultOf(name, wanted.ret, failures.length > 0 ? {} : changes, failures), perms]
}

/** Whether an owner is wanted that the file does not have, by name or number. */
const changed = (wanted: unknown, name: unknown, id: number): boolean =>
  !isEmpty(wanted) && wanted !== name && Number(wanted) !== id

async function apply(
  name: string,
  wanted: Wanted,
  change: { user: boolean; group: boolean; mode: string | undefined; isLink: boolean },
): Promise<string[]> {
  const { uid, gid, unknown } = await ownerIds(
    change.user ? owner(wanted.user) : '',
    change.group ? owner(wanted.group) : '',
  )
  if (unknown !== '')
    return [
      unknown,
      ...(change.user && uid === -1 ? [`Failed to change user to ${wanted.user}`] : []),
      ...(change.group && gid === -1 ? [`Failed to change group to ${wanted.group}`] : []),
    ]
  try {
    if (change.user || change.group) await (change.isLink ? lchown : chown)(name, uid, gid)
    if (change.mode !== undefined) await chmod(name, Number.parseInt(change.mode, 8))
    return []
  } catch (error) {
    return [errorText(error)]
  }
}

function resultOf(
  name: string,
  given: unknown,
  changes: Record<string, unknown>,
  failures: string[],
): Result {
  const known = typeof given === 'object' && given !== null ? (given as Partial<Result>) : {}
  const comments = [...[known.comment ?? []].flat(), ...failures].filter((comment) => comment !== '')
  return {
    ...known,
    name: known.name ?? name,
    changes: { ...known.changes, ...changes },
    comment: comments.join('; '),
    result: failures.length === 0 && (known.result ?? true),
  }
}
