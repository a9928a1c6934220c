import { stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import type { Context } from 'salt-ts'
import { append } from '../_pkg/group.ts'
import { plainNames } from '../_pkg/names.ts'
import { oneOrAll } from '../_pkg/versions.ts'
import { inRoot, pacman } from './run.ts'

/** List the files of packages, or of all. The first name may be the path of another root folder. */
export async function listFiles(
  names: readonly string[],
  context: Context,
): Promise<{ errors: string[]; packages: Record<string, string[]> }> {
  const [first = '', ...rest] = plainNames(names)
  const hasRoot = isAbsolute(first) && (await stat(first).catch(() => undefined)) !== undefined
  const words = hasRoot ? [...inRoot(first), ...rest] : names
  const { stdout } = await pacman(['-Ql', ...words], context, { merged: true })
  const errors: string[] = []
  const packages: Record<string, string[]> = {}
  for (const line of stdout.split('\n').filter(Boolean)) {
    const [, name, path] = /^(\S+) (.*)$/.exec(line) ?? []
    if (line.startsWith('error')) errors.push(line)
    else if (name && path) append(packages, name, path)
  }
  return { errors, packages }
}

/** Find the package that owns a path, or ''. For several paths, a map. */
export async function ownerOf(paths: readonly string[], context: Context) {
  if (paths.length === 0) return ''
  const owners: Record<string, string> = {}
  for (const path of plainNames(paths)) owners[path] = (await pacman(['-Qqo', path], context)).stdout
  return oneOrAll(owners, [...new Set(paths)])
}
