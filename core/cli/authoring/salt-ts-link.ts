import { lstat, mkdir, readFile, rm, symlink } from 'node:fs/promises'
import path from 'node:path'
import { packageRoot } from '../../process/own-package.ts'
import { resolveFrom } from './resolve-from.ts'

/**
 * Link this copy of salt-ts into `node_modules` of a directory where it is not installed, for editors, tsc and npm
 * scripts. (Programs of salt-ts find it without.) Returns the text to print.
 */
export async function linkSaltTs(directory: string): Promise<string | undefined> {
  if (resolveFrom(directory, 'salt-ts/package.json') !== undefined) return undefined
  const modules = path.join(directory, 'node_modules')
  await mkdir(path.join(modules, '.bin'), { recursive: true })
  const link = path.join(modules, 'salt-ts')
  const isLink = await lstat(link).then(
    (found) => found.isSymbolicLink(),
    () => false,
  )
  if (isLink) await rm(link) // a dangling link, to a copy that was removed
  await symlink(packageRoot, link)
  const { bin } = JSON.parse(await readFile(path.join(packageRoot, 'package.json'), 'utf8')) as {
    bin: object
  }
  for (const [name, file] of Object.entries(bin)) {
    const target = path.join('..', 'salt-ts', String(file))
    await symlink(target, path.join(modules, '.bin', name)).catch(() => undefined) // another package has the name
  }
  return `linked node_modules/salt-ts to ${packageRoot}, since salt-ts is not installed here`
}
