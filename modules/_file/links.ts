import { randomBytes } from 'node:crypto'
import { readlink, rename, rm, symlink } from 'node:fs/promises'
import { dirname, join, normalize } from 'node:path'
import { CommandExecutionError } from 'salt-ts'
import { absolute, exists, isSymlink } from './paths.ts'

/** Make a symlink. True, too, if it is already there. */
export async function makeSymlink(
  src: string,
  given: string,
  { force = false, atomic = false },
): Promise<boolean> {
  const path = await absolute(given, `Link path must be absolute: ${given}`)
  const isLink = await isSymlink(path)
  if (isLink && normalize(await readlink(path)) === normalize(src)) return true
  if (isLink && !force && !atomic) throw new CommandExecutionError(`Found existing symlink: ${path}`)
  if (!isLink && (await exists(path)) && !force && !atomic)
    throw new CommandExecutionError(`Existing path is not a symlink: ${path}`)
  const temporary = join(dirname(path), `.tmp-${randomBytes(9).toString('hex')}`)
  try {
    await symlink(src, temporary)
    await rename(temporary, path)
    return true
  } catch {
    await rm(temporary, { force: true })
    throw new CommandExecutionError(`Could not create '${path}'`)
  }
}
