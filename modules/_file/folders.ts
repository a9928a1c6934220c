import { chmod, chown, mkdir } from 'node:fs/promises'
import { dirname, normalize } from 'node:path'
import { CommandExecutionError } from 'salt-ts'
import { type Owner, ownerIds } from './owners.ts'
import { absolute, attempt, exists, expandHome, isFolder } from './paths.ts'
import { type Place, withPlace } from './place.ts'

export interface Permissions {
  readonly user?: Owner
  readonly group?: Owner
  readonly mode?: string | undefined
}

/** Make a folder and those above it that are missing, all with the owner and mode. */
export async function makeFolders(given: string, { user, group, mode }: Permissions): Promise<void> {
  const path = await absolute(
    given,
    `Recursive creation for path '${given}' would result in an infinite loop. Please use an absolute path.`,
  )
  const { uid, gid, unknown } = await ownerIds(user ?? '', group)
  if (unknown !== '') throw new CommandExecutionError(unknown.trimEnd().replaceAll('\n', ', '))
  const folders = await missingFolders(path)
  if (mode !== undefined && !/^[0-7]+$/.test(mode))
    throw new CommandExecutionError(`The mode of ${path} has to be octal digits, such as 0755, not '${mode}'`)
  if (folders.length === 0) throw new CommandExecutionError(`[Errno 17] File exists: '${path}'`)
  for (const folder of folders) {
    const made = mode === undefined ? {} : { mode: Number.parseInt(mode, 8) }
    await withPlace(folder, ({ at }) => attempt(mkdir(at, made), folder), { follow: false })
    await withPlace(folder, ({ file }) => give(folder, file), { follow: false })
  }

  async function give(folder: string, file: Place['file']): Promise<void> {
    // Another process may have replaced it meanwhile.
    if (!file?.stats.isDirectory()) throw new CommandExecutionError(`[Errno 20] Not a directory: '${folder}'`)
    const { at } = file
    await attempt(chown(at, uid, gid), folder)
    if (mode !== undefined) await attempt(chmod(at, Number.parseInt(mode, 8)), folder)
  }
}

async function missingFolders(path: string): Promise<string[]> {
  if (await exists(path)) return []
  return [...(await missingFolders(dirname(path))), normalize(path).replace(/(.)\/+$/, '$1')]
}

/** Make the folders above a path; returns Salt's sentence if there is nothing to do. */
export async function makeParents(given: string, permissions: Permissions): Promise<string | null> {
  const folder = normalize(dirname(await expandHome(given)))
  const parent = given.endsWith('/') ? normalize((await expandHome(given)).replace(/\/+$/, '')) : folder
  if (await isFolder(parent)) return `Directory '${parent}' already exists`
  if (await exists(parent)) return `The path '${parent}' already exists and is not a directory`
  await makeFolders(parent, permissions)
  return null
}
