import { readFile, realpath, stat, writeFile } from 'node:fs/promises'
import { CommandExecutionError } from 'salt-ts'
import { fillFileAtomic } from '#internal'

/** Return the text of a file; undefined if it is missing or may not be read. */
export function textOf(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined)
}

/** Return the lines of a file that are not blank; none if it is missing or may not be read. */
export async function linesOf(path: string): Promise<string[]> {
  return ((await textOf(path)) ?? '').split('\n').filter((line) => line.trim() !== '')
}

/** Return the message of a system error as Python prints it: `No such file or directory`. */
export function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  const text = message.replace(/^\w+: /, '').replace(/, \w+( '.*)?$/, '')
  return code === undefined ? message : text.charAt(0).toUpperCase() + text.slice(1)
}

/**
 * Replace the content of a configuration file atomically. Its owner and mode are kept, and a symlink still leads to it. A
 * new file is created with mode 0644.
 * @throws CommandExecutionError with the reason
 */
export async function rewrite(path: string, text: string): Promise<void> {
  try {
    await replace(await realpath(path).catch(() => path), text)
  } catch (error) {
    throw new CommandExecutionError(`Couldn't write to ${path}: ${reasonOf(error)}`, { cause: error })
  }
}

async function replace(path: string, text: string): Promise<void> {
  const old = await stat(path).catch(() => undefined)
  const how = old ? { mode: old.mode & 0o7777, owner: { uid: old.uid, gid: old.gid } } : { mode: 0o644 }
  try {
    await fillFileAtomic(path, (file) => file.writeFile(text), how)
  } catch (error) {
    // A file that is itself a mount point, such as /etc/hosts in a container, can only be written in place.
    if ((error as NodeJS.ErrnoException).code !== 'EBUSY') throw error
    await writeFile(path, text)
  }
}
