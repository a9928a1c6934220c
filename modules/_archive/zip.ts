import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { open, readdir, readlink, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { CommandExecutionError, type Context, SaltInvocationError } from 'salt-ts'
import { missingFile } from './list.ts'
import { runArchiver, unzipEnv } from './program.ts'
import { asPath, expandSources } from './sources.ts'
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
  const found = (await Promise.all(paths.map((path) => namesBelow(resolve(root, path), root)))).flat()
  // zip takes one name a line: the rest of such a name would be another file, of the choice of whoever planted it.
  const names = found.filter((name) => !/[\r\n]/.test(name))
  if (names.length < found.length)
    context.log.warn(`${found.length - names.length} files are not packed: their names have line breaks`)
  if (names.length === 0)
    throw new CommandExecutionError(`Exception encountered creating zipfile: none of the sources exists`)
  const target = resolve(root, file)
  const fresh = join(dirname(target), `.tmp-${randomUUID()}.zip`)
  try {
    const { retcode, stdout } = await runArchiver(
      ['zip', '-q', fresh, '-@'],
      { cwd: root, runas, throws: true, input: `${names.join('\n')}\n` },
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
  const members = await readZipDirectory(file).catch((cause: NodeJS.ErrnoException) => {
    const reason = cause.code === 'ENOENT' ? missingFile(file) : cause.message
    throw new CommandExecutionError(`Exception encountered unpacking zipfile: ${reason}`)
  })
  if (!members)
    throw new CommandExecutionError('Exception encountered unpacking zipfile: File is not a zip file')
  const names = members.map(({ name }) => name).filter((name) => !how.excludes.includes(name))
  const left = how.excludes.length > 0 ? ['-x', ...how.excludes.map(literal)] : []
  const { retcode, stdout } = await runArchiver(
    ['unzip', '-o', '-q', asPath(file), '-d', asPath(dest), ...left],
    { runas: how.runas, throws: true, env: unzipEnv(how.password) },
    context,
  )
  if (retcode !== 0) {
    const locked = members.find(({ name, isEncrypted }) => isEncrypted && names.includes(name))
    const isLocked = /^$|unable to get password|incorrect password/.test(stdout)
    const reason = isLocked && locked ? lockedText(locked.name, how.password) : stdout
    throw new CommandExecutionError(`Exception encountered unpacking zipfile: ${reason}`)
  }
  if (!how.extract_perms) await resetModes(dest, names)
  return names
}

const lockedText = (name: string, password: string | undefined): string =>
  password === undefined
    ? `File '${name}' is encrypted, password required for extraction`
    : `Bad password for file '${name}'`

/** Return a pattern of unzip that matches only this name. */
const literal = (name: string): string => name.replaceAll(/[\\*?[]/g, '\\$&')

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants

/** Give what was unpacked the modes of new files. Names in an archive may lead out of the folder, also by links in it. */
async function resetModes(dest: string, names: readonly string[]): Promise<void> {
  const root = await realpath(dest)
  for (const name of names) await resetMode(join(dest, name), root)
}

async function resetMode(path: string, root: string): Promise<void> {
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => undefined)
  if (!file) return
  try {
    const found = await file.stat()
    const isInside = (await readlink(`/proc/self/fd/${file.fd}`)).startsWith(`${root}/`)
    if (!isInside || !(found.isDirectory() || (found.isFile() && found.nlink === 1))) return
    await file.chmod((found.isDirectory() ? 0o777 : 0o666) & ~process.umask())
  } finally {
    await file.close()
  }
}
