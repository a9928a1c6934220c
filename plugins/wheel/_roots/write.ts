/** Writes files into a root, and never outside of it. */
import { mkdir, realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { CommandExecutionError, type SafePath } from 'salt-ts'
import { fileProblem, isBelow, replaceFile } from '#internal'

/**
 * Replace a file, or create it with its folders. A folder that is a link out of the root is refused; a file that is a link is
 * itself replaced. Readers see either the old file or the new one.
 */
export async function writeInside(root: string, path: SafePath, text: string): Promise<void> {
  const full = join(root, path)
  try {
    const folder = await folderInside(root, path)
    const target = join(folder, path.slice(path.lastIndexOf('/') + 1))
    await replaceFile(target, text)
  } catch (error) {
    if (error instanceof CommandExecutionError) throw error
    throw new CommandExecutionError(`${full} cannot be written: ${fileProblem(error)}`)
  }
}

/** Return the real path of the folder for a file, and create missing folders. */
async function folderInside(root: string, path: SafePath): Promise<string> {
  await mkdir(root, { recursive: true })
  const realRoot = await realpath(root)
  let folder = realRoot
  for (const name of path.split('/').slice(0, -1)) {
    await mkdir(join(folder, name)).catch(unlessThere)
    folder = await realpath(join(folder, name))
    if (!isBelow(folder, realRoot))
      throw new CommandExecutionError(
        `${join(root, dirname(path))} leads out of ${root}; nothing was written.`,
      )
  }
  return folder
}

function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error
}
