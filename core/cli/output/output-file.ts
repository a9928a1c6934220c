/** Output to a file. */
import { openSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { SaltError } from '../../base/errors.ts'
import { fileProblem } from '../../base/files/file-problem.ts'

/**
 * Open the file and return a function that writes to it. Both throw OUTPUT_FAILED with what is wrong and where. `option` is the one
 * that names the file.
 */
export function openOutputFile(path: string, append: boolean, option = '--out-file'): (text: string) => void {
  const file = attempt(path, option, () => openSync(path, append ? 'a' : 'w', 0o600))
  return (text) => attempt(path, option, () => writeFileSync(file, text))
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'its folder does not exist; create it first',
  ENOTDIR: 'part of the path is a file, not a folder',
  EISDIR: 'this is a folder; name a file in it',
  EACCES: 'this user may not write there',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full; the output is incomplete from here on',
  EDQUOT: 'the quota of this user is used up; the output is incomplete from here on',
}

function attempt<T>(path: string, option: string, action: () => T): T {
  try {
    return action()
  } catch (error) {
    const why = REASONS[(error as NodeJS.ErrnoException).code ?? ''] ?? fileProblem(error)
    throw new SaltError(
      'OUTPUT_FAILED',
      `Cannot write to ${resolve(path)} (${option}): ${why}.`,
      { path },
      { cause: error },
    )
  }
}
