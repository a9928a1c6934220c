import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { delimiter, isAbsolute, join, resolve } from 'node:path'

const USUAL = ['/sbin', '/bin', '/usr/sbin', '/usr/bin', '/usr/local/sbin', '/usr/local/bin']

/** Find a program as Salt's `cmd.which` does: in PATH, then in the usual folders. */
export async function which(name: string): Promise<string | null> {
  if (name === '') return null
  if (await isProgram(name)) return name
  const folders = (process.env.PATH ?? '').split(delimiter)
  return (await firstProgram([...folders, ...USUAL], name)) ?? null
}

/** Return the path of the program that would start if `name` were run in `cwd` with this PATH. */
export async function findProgram(name: string, path: string | undefined, cwd: string) {
  if (name.includes('/')) {
    const file = isAbsolute(name) ? name : resolve(cwd, name)
    return (await isProgram(file)) ? file : undefined
  }
  const folders = (path ?? '/bin:/usr/bin').split(delimiter).map((folder) => resolve(cwd, folder))
  return firstProgram(folders, name)
}

async function firstProgram(folders: readonly string[], name: string): Promise<string | undefined> {
  for (const folder of new Set(folders)) {
    const file = join(folder, name)
    if (await isProgram(file)) return file
  }
  return undefined
}

/** Whether a path is a regular file that may be executed. */
export async function isProgram(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK)
    return (await stat(file)).isFile()
  } catch {
    return false
  }
}
