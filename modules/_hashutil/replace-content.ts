import { lstat, realpath, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { CommandExecutionError } from 'salt-ts'
import { fillFileAtomic } from '#internal'

const OTHERS_MAY_WRITE = 0o002

/**
 * Replace a file atomically, and keep its owner and mode; a new file gets 0644 less the umask. A link is followed, except in
 * a folder in which everybody may place one.
 */
export async function replaceContent(path: string, content: string | Uint8Array): Promise<void> {
  try {
    const target = await targetOf(path)
    const found = await stat(target).catch(() => undefined)
    if (found?.isDirectory()) throw new CommandExecutionError(`${path} is a folder.`)
    await fillFileAtomic(target, (file) => file.writeFile(content), {
      mode: found ? found.mode & 0o7777 : 0o644 & ~process.umask(),
      ...(found && { owner: { uid: found.uid, gid: found.gid } }),
    })
  } catch (cause) {
    if (cause instanceof CommandExecutionError) throw cause
    throw new CommandExecutionError(`${path} cannot be written: ${(cause as NodeJS.ErrnoException).code}`)
  }
}

async function targetOf(path: string): Promise<string> {
  const isLink = (await lstat(path).catch(() => undefined))?.isSymbolicLink()
  if (!isLink) return path
  const { mode } = await stat(dirname(path))
  if (mode & OTHERS_MAY_WRITE) {
    throw new CommandExecutionError(
      `${path} is a link in a folder where everybody may write; remove it, or name the file it points to.`,
    )
  }
  return realpath(path)
}
