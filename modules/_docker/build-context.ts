import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { lstat, readdir, readFile, readlink, stat } from 'node:fs/promises'
import { isAbsolute, join, relative, resolve } from 'node:path'
import { CommandExecutionError } from 'salt-ts'
import { fileProblem } from '#internal'
import { isFolder } from '../_file/paths.ts'
import { type Ignored, readIgnored } from './ignore.ts'
import { headerOf, padding, TRAILER } from './tar.ts'

const IGNORE_FILE = '.dockerignore'

export interface BuildContext {
  /** The folder as a tar archive, made while it is read. */
  readonly archive: AsyncIterable<Buffer>
  /** The path of the Dockerfile in it, unless it is the usual one. */
  readonly dockerfile: string | undefined
}

/** Return a folder as Docker takes it for a build. A Dockerfile that is elsewhere is added. @throws CommandExecutionError */
export async function buildContext(folder: string, given: string | undefined): Promise<BuildContext> {
  if (!(await isFolder(folder)))
    throw new CommandExecutionError(
      `Unable to perform build: there is no folder ${folder} on the minion; give the path of one, or a URL.`,
    )
  const { name, outside } = placeOf(folder, given)
  const source = outside ?? join(folder, name)
  if (!(await stat(source).catch(() => undefined))?.isFile())
    throw new CommandExecutionError(`Unable to perform build: there is no Dockerfile ${source}.`)
  const text = await readFile(join(folder, IGNORE_FILE), 'utf8').catch(() => '')
  const ignored = readIgnored(text, [name, IGNORE_FILE])
  return {
    archive: archiveOf(folder, ignored, outside === undefined ? undefined : { name, path: outside }),
    dockerfile: given && name,
  }
}

function placeOf(folder: string, given = 'Dockerfile'): { name: string; outside?: string } {
  const path = isAbsolute(given) ? given : resolve(folder, given)
  const name = relative(folder, path)
  return name.startsWith('..') ? { name: `.dockerfile.${randomUUID()}`, outside: path } : { name }
}

interface Extra {
  readonly name: string
  readonly path: string
}

async function* archiveOf(
  folder: string,
  ignored: Ignored,
  extra: Extra | undefined,
): AsyncGenerator<Buffer> {
  for await (const name of namesBelow(folder, '', ignored)) yield* memberOf(name, join(folder, name))
  if (extra) yield* memberOf(extra.name, extra.path)
  yield TRAILER
}

/** Yield the names of what is below a folder and does not stay out, a folder before what is in it. */
async function* namesBelow(root: string, at: string, ignored: Ignored): AsyncGenerator<string> {
  const entries = await readdir(join(root, at), { withFileTypes: true })
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const name = at === '' ? entry.name : `${at}/${entry.name}`
    const isOut = ignored.has(name)
    if (!isOut) yield name
    if (entry.isDirectory() && (!isOut || ignored.mayHaveWanted(name))) yield* namesBelow(root, name, ignored)
  }
}

/** Yield the header and the content of a file, a folder or a link; of nothing else, such as a socket. */
async function* memberOf(name: string, path: string): AsyncGenerator<Buffer> {
  const facts = await lstat(path)
  const { size } = facts
  const about = { name, mode: facts.mode & 0o7777, mtime: facts.mtimeMs / 1000 }
  if (facts.isDirectory()) yield headerOf({ ...about, kind: 'folder', size: 0 })
  if (facts.isSymbolicLink())
    yield headerOf({ ...about, kind: 'link', size: 0, target: await readlink(path) })
  if (!facts.isFile()) return
  yield headerOf({ ...about, kind: 'file', size })
  yield* contentOf(path, size)
  yield padding(size)
}

/** Yield as many bytes of a file as its header says. What grows meanwhile is cut; what shrinks is refused. */
async function* contentOf(path: string, size: number): AsyncGenerator<Buffer> {
  if (size === 0) return
  let read = 0
  try {
    for await (const piece of createReadStream(path, { end: size - 1 }) as AsyncIterable<Buffer>) {
      read += piece.length
      yield piece
    }
  } catch (error) {
    throw new CommandExecutionError(`${path} cannot be read for a build: ${fileProblem(error)}`)
  }
  if (read < size) throw new CommandExecutionError(`${path} became shorter while it was read for a build.`)
}
