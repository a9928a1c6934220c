import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { SaltInvocationError } from 'salt-ts'
import { fnmatch } from '#internal'

/**
 * Parse paths, a list or comma-separated text, and expand shell patterns in them, below `cwd` if they are relative. None of
 * them begins with a dash: whoever may write to a folder may also give a file there the name of an option.
 */
export async function expandSources(given: unknown, cwd = '.'): Promise<string[]> {
  const sources = namesOf(given).map(asPath)
  const found = await Promise.all(sources.map((source) => (isPattern(source) ? glob(source, cwd) : [source])))
  return found.flat().map((path) => (path.startsWith('-') ? `./${path}` : path))
}

/** Refuse a path that would be an option of the program. @throws SaltInvocationError */
export function asPath(path: string): string {
  if (!path.startsWith('-')) return path
  throw new SaltInvocationError(`'${path}' would be an option; if it is a file, write './${path}'`)
}

/** Parse names that users write as a list, or as comma-separated text. */
export function namesOf(given: unknown): string[] {
  if (given === undefined || given === null) return []
  if (Array.isArray(given)) return given.map(String)
  return String(given)
    .split(',')
    .map((name) => name.trim())
}

const isPattern = (text: string): boolean => /[*?[]/.test(text)

async function glob(pattern: string, cwd: string): Promise<string[]> {
  let found = [pattern.startsWith('/') ? '/' : '']
  for (const step of pattern.split('/').filter(Boolean)) {
    const next = await Promise.all(found.map((folder) => matches(folder, step, cwd)))
    found = next.flat()
  }
  return found
}

async function matches(folder: string, step: string, cwd: string): Promise<string[]> {
  const place = folder.startsWith('/') ? folder : join(cwd, folder)
  if (!isPattern(step)) {
    const isThere = await stat(join(place, step)).catch(() => undefined)
    return isThere ? [join(folder, step)] : []
  }
  const names = await readdir(place).catch(() => [])
  return names
    .filter((name) => (step.startsWith('.') || !name.startsWith('.')) && fnmatch(name, step))
    .sort()
    .map((name) => join(folder, name))
}
