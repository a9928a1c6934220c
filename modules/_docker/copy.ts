import { createReadStream } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, posix } from 'node:path'
import { CommandExecutionError, type Context, SaltInvocationError } from 'salt-ts'
import { fileProblem, fillFileAtomic } from '#internal'
import { exists, isFile, isFolder, statOf } from '../_file/paths.ts'
import { address, DockerRefusal, dockerStream } from './api.ts'
import { stateOf } from './containers.ts'
import { runWords } from './exec.ts'
import { cachedSource } from './load.ts'
import { onlyFile } from './tar.ts'

interface Copy {
  readonly source: string
  readonly dest: string
  readonly overwrite: boolean
  readonly makedirs: boolean
}

/** Copy a file of a running container to the minion. */
export async function copyFrom(name: string, given: Copy, context: Context): Promise<true> {
  await requireRunning(name, context)
  const dest = await placeOnHost(given)
  const source = await fileInside(name, given.source, context)
  const what = `${given.source} cannot be copied from container '${name}' to ${dest}`
  try {
    const path = address(['containers', name, 'archive'], { path: source })
    const { mode, mtime, content } = await onlyFile(await dockerStream('GET', path, context))
    const fill = async (file: Parameters<Parameters<typeof fillFileAtomic>[1]>[0]) => {
      await writeFile(file, content)
      await file.utimes(mtime, mtime)
    }
    await fillFileAtomic(dest, fill, { mode: mode & 0o777 })
  } catch (error) {
    context.signal.throwIfAborted()
    throw new CommandExecutionError(`${what}: ${fileProblem(error)}`)
  }
  return true
}

async function requireRunning(name: string, context: Context): Promise<void> {
  if ((await stateOf(name, context)) === 'running') return
  throw new CommandExecutionError(`Container '${name}' is not running`)
}

const taken = (dest: string): CommandExecutionError =>
  new CommandExecutionError(`Destination path ${dest} already exists. Use overwrite=True to overwrite it`)

/** Return the path of the copy: in a folder it has the name of the source. */
async function placeOnHost({ source, dest, overwrite, makedirs }: Copy): Promise<string> {
  if (!isAbsolute(dest)) throw new SaltInvocationError('Destination path must be absolute')
  const place = (await isFolder(dest)) ? join(dest, basename(source)) : dest
  const folder = dirname(place)
  if (!(await isFolder(folder))) {
    if (!makedirs) throw new SaltInvocationError(`Directory ${folder} does not exist`)
    await mkdir(folder, { recursive: true }).catch((error) => {
      throw new CommandExecutionError(`Unable to make destination directory ${folder}: ${fileProblem(error)}`)
    })
  }
  const old = await statOf(place)
  if (old && !overwrite) throw taken(place)
  if (old && !old.isFile())
    throw new CommandExecutionError(`${place} is no regular file; give the path of one as dest.`)
  return place
}

/** Kinds of files, as Go has them in the bits of a mode. */
const LINK = 2 ** 27
const KINDS = 2 ** 31 + LINK + 2 ** 26 + 2 ** 25 + 2 ** 24 + 2 ** 21 + 2 ** 19
const MAX_LINKS = 20

/** Return the path of a regular file of a container, behind the links that point to it. @throws SaltInvocationError if it is none */
async function fileInside(name: string, source: string, context: Context): Promise<string> {
  if (!isAbsolute(source)) throw new SaltInvocationError('Source path must be absolute')
  let path = source
  for (let links = 0; links < MAX_LINKS; links++) {
    const found = await statInside(name, path, context)
    if (!found) break
    const kind = Number(BigInt(found.mode) & BigInt(KINDS))
    if (kind === 0) return path
    if (kind !== LINK) throw new SaltInvocationError('Source must be a regular file')
    path = posix.resolve(posix.dirname(path), found.linkTarget)
  }
  throw new SaltInvocationError(`Source file ${source} does not exist`)
}

interface StatInside {
  readonly mode: number
  readonly linkTarget: string
}

async function statInside(name: string, path: string, context: Context): Promise<StatInside | undefined> {
  try {
    const answer = await dockerStream('HEAD', address(['containers', name, 'archive'], { path }), context)
    answer.resume()
    const text = Buffer.from(String(answer.headers['x-docker-container-path-stat']), 'base64').toString()
    return JSON.parse(text) as StatInside
  } catch (error) {
    if (error instanceof DockerRefusal && error.status === 404) return undefined
    throw error
  }
}

/** Copy a file of the minion or the file server into a running container. */
export async function copyTo(name: string, given: Copy, context: Context): Promise<true> {
  const source = await cachedSource(given.source, context)
  await requireRunning(name, context)
  if (!isAbsolute(source)) throw new SaltInvocationError('Source path must be absolute')
  if (!(await exists(source))) throw new SaltInvocationError(`Source file ${source} does not exist`)
  if (!(await isFile(source))) throw new SaltInvocationError('Source must be a regular file')
  const dest = await placeInside(name, { ...given, source }, context)
  const { retcode, stderr } = await runWords(name, ['sh', '-c', 'cat >"$0"', dest], context, bytesOf(source))
  if (retcode === 0) return true
  throw new CommandExecutionError(`${dest} cannot be written in container '${name}': ${stderr || retcode}`)
}

/** Return the bytes of a file, which is opened when they are wanted. */
async function* bytesOf(path: string): AsyncGenerator<Buffer> {
  yield* createReadStream(path) as AsyncIterable<Buffer>
}

/** Return the path of the copy: in a folder it has the name of the source. */
async function placeInside(name: string, given: Copy, context: Context): Promise<string> {
  const { source, dest, overwrite, makedirs } = given
  if (!isAbsolute(dest)) throw new SaltInvocationError('Destination path must be absolute')
  const isTrue = async (...test: string[]) => (await runWords(name, ['test', ...test], context)).retcode === 0
  if (await isTrue('-d', dest)) {
    const inFolder = posix.join(dest, basename(source))
    if (!overwrite && (await isTrue('-e', inFolder))) throw taken(inFolder)
    return inFolder
  }
  const folder = posix.dirname(dest)
  if (!(await isTrue('-d', folder))) {
    if (!makedirs)
      throw new SaltInvocationError(`Directory ${folder} does not exist on docker container '${name}'`)
    const { retcode, stderr } = await runWords(name, ['mkdir', '-p', folder], context)
    if (retcode !== 0)
      throw new CommandExecutionError(
        `Unable to create destination directory ${folder} in container '${name}': ${stderr || retcode}`,
      )
  }
  if (!overwrite && (await isTrue('-e', dest))) throw taken(dest)
  return dest
}
