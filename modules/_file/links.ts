import { randomBytes } from 'node:crypto'
import { readlink, rename, rm, symlink } from 'node:fs/promises'
import { dirname, join, normalize } from 'node:path'
import { CommandExecutionError, SaltInvocationError } from 'salt-ts'
import { absolute, errorText, isSymlink } from './paths.ts'
import { type Place, withPlace } from './place.ts'
import { realPath } from './stats.ts'

/** Make a symlink. True, too, if it is already there. */
export async function makeSymlink(
  src: string,
  given: string,
  { force = false, atomic = false },
): Promise<boolean> {
  const path = await absolute(given, `Link path must be absolute: ${given}`)
  const make = async (place: Place): Promise<boolean> => {
    const isLink = place.file?.stats.isSymbolicLink() ?? false
    if (isLink && normalize(await readlink(place.at)) === normalize(src)) return true
    if (isLink && !force && !atomic) throw new CommandExecutionError(`Found existing symlink: ${path}`)
    if (place.file && !force && !atomic)
      throw new CommandExecutionError(`Existing path is not a symlink: ${path}`)
    await putSymlink(src, place, path)
    return true
  }
  return withPlace(path, make, { follow: false })
}

async function putSymlink(src: string, { at }: Place, path: string): Promise<void> {
  const temporary = join(dirname(at), `.tmp-${randomBytes(9).toString('hex')}`)
  try {
    await symlink(src, temporary)
    await rename(temporary, at)
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined)
    throw new CommandExecutionError(`Could not create '${path}': ${errorText(error, path)}`)
  }
}

/** Return what a symlink leads to; with `canonicalize` its full path, all symlinks resolved. */
export async function targetOf(given: string, canonicalize: boolean): Promise<string> {
  const named = given.replace(
    /\$(?:\{(\w+)\}|(\w+))/g,
    (whole, braced, plain) => process.env[braced ?? plain] ?? whole,
  )
  const path = await absolute(named, `Path to link must be absolute: ${named}`)
  if (!(await isSymlink(path))) throw new SaltInvocationError(`A valid link was not specified: ${path}`)
  return canonicalize ? realPath(path) : readlink(path)
}
