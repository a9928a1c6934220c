import { randomUUID } from 'node:crypto'
import { chmod, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { CommandExecutionError, type Context, SaltInvocationError } from 'salt-ts'
import { runArchiver } from './program.ts'
import { expandSources } from './sources.ts'
import { readZipDirectory } from './zip-directory.ts'

/**
 * Make a ZIP file of files and folders, and return the names in it: relative to `cwd`, or to the root. An existing file is
 * replaced when the new one is complete.
 */
export async function makeZip(
  file: string,
  sources: unknown,
  { cwd, runas }: { cwd: string | undefined; runas: string | undefined },
  context: Context,
): Promise<string[]> {
  const paths = await expandSources(sources, cwd)
  if (cwd !== undefined && !isAbsolute(cwd)) throw new SaltInvocationError('cwd must be absolute')
  if (cwd === undefined && paths.some((path) => !isAbsolute(path)))
    throw new SaltInvocationError("Relative paths require the 'cwd' parameter")
  const root = cwd ?? '/'
  const names = (await Promise.all(paths.map((path) => namesBelow(resolve(root, path), root)))).flat()
  if (names.length === 0)
    throw new CommandExecutionError(`Exception encountered creating zipfile: none of the sources exists`)
  const target = resolve(root, file)
  const fresh = join(dirname(target), `.tmp-${randomUUID()}.zip`)
  try {
    const { retcode, stdout } = await runArchiver(
      ['zip', '-q', fresh, '-@'],
      { cwd: root, runas, throws: true, stdin: `${names.join('\n')}\n` },
      context,
    )
    if (retcode !== 0) throw new CommandExecutionError(`Exception encountered creating zipfile: ${stdout}`)
    await rename(fresh, target)
  } finally {
    await rm(fresh, { force: true })
  }
  return names
}

/** Return the names of a file, or of a folder and all that is below. Links to files are followed, those to folders are not. */
async function namesBelow(path: string, root: string): Promise<string[]> {
  const found = await stat(path).catch(() => undefined)
  if (!found) return []
  const name = relative(root, path)
  if (!found.isDirectory()) return [name]
  const entries = await readdir(path, { withFileTypes: true })
  const files = entries.filter((entry) => !entry.isDirectory())
  const folders = entries.filter((entry) => entry.isDirectory())
  const isFile = await Promise.all(
    files.map((entry) =>
      stat(join(path, entry.name)).then(
        (it) => it.isFile(),
        () => false,
      ),
    ),
  )
  const below = await Promise.all(folders.map((entry) => namesBelow(join(path, entry.name), root)))
  return [
    ...(name === '' ? [] : [`${name}/`]),
    ...files.filter((_, at) => isFile[at]).map((entry) => join(name, entry.name)),
    ...below.flat(),
  ]
}

export interface Unpacking {
  readonly excludes: readonly string[]
  readonly options: string | undefined
  readonly runas: string | undefined
  readonly password: string | undefined
  readonly extract_perms: boolean
}

/** Unpack a ZIP file, over existing files, and return the names of what was unpacked. */
export async function unpackZip(
  file: string,
  dest: string,
  how: Unpacking,
  context: Context,
): Promise<string[]> {
  const members = await readZipDirectory(file).catch((cause: Error) => {
    throw new CommandExecutionError(`Exception encountered unpacking zipfile: ${cause.message}`)
  })
  if (!members)
    throw new CommandExecutionError('Exception encountered unpacking zipfile: File is not a zip file')
  const names = members.map(({ name }) => name).filter((name) => !how.excludes.includes(name))
  const words = [
    ...['unzip', '-o', '-q', ...(how.password === undefined ? [] : ['-P', how.password])],
    ...[file, '-d', dest, ...(how.excludes.length > 0 ? ['-x', ...how.excludes.map(literal)] : [])],
  ]
  const quiet = how.password !== undefined
  const { retcode, stdout } = await runArchiver(words, { runas: how.runas, throws: true, quiet }, context)
  if (retcode !== 0) throw new CommandExecutionError(`Exception encountered unpacking zipfile: ${stdout}`)
  if (!how.extract_perms) await resetModes(dest, names)
  return names
}

/** Return a pattern of unzip that matches only this name. */
const literal = (name: string): string => name.replaceAll(/[\\*?[]/g, '\\$&')

async function resetModes(dest: string, names: readonly string[]): Promise<void> {
  const umask = process.umask()
  for (const name of names) {
    const path = join(dest, name)
    const found = await stat(path).catch(() => undefined)
    if (found) await chmod(path, (found.isDirectory() ? 0o777 : 0o666) & ~umask)
  }
}
