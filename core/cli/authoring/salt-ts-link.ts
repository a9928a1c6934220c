import { existsSync } from 'node:fs'
import { lstat, mkdir, readFile, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { packageRoot } from '../../process/own-package.ts'

/**
 * Link this copy of salt-ts into `node_modules` of a directory where it is not installed, for editors, tsc and npm
 * scripts. (Programs of salt-ts find it without.) Returns the text to print.
 */
export async function linkSaltTs(directory: string): Promise<string | undefined> {
  if (isInstalledFor(directory)) return undefined
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

/** Whether Node and tsc find salt-ts from a directory; this process may resolve it from anywhere (`resolve-hook.ts`). */
function isInstalledFor(directory: string): boolean {
  const folders = createRequire(path.join(directory, 'package.json')).resolve.paths('salt-ts') ?? []
  return folders.some((folder) => existsSync(path.join(folder, 'salt-ts', 'package.json')))
}
