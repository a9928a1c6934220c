import { readFile, stat } from 'node:fs/promises'
import { SaltError } from '../base/errors.ts'
import { cannotMakeDirectory, makeFolders } from '../base/files/directory.ts'
import { irregularityOf } from '../base/files/regular-file.ts'

const OTHERS_WRITE = 0o022
const OTHERS = 0o077
/** Forbidden mode bits with `permissive_pki_access`, where the group may read. */
const OTHERS_BUT_GROUP_READS = 0o037

/** Create the key directory if missing. @throws SaltError PERMISSIONS if others may write to it */
export async function checkKeyDirectory(path: string): Promise<void> {
  try {
    makeFolders(path, 0o700)
  } catch (error) {
    throw cannotMakeDirectory(path, error)
  }
  const { mode } = await stat(path)
  if ((mode & OTHERS_WRITE) === 0) return
  throw new SaltError(
    'PERMISSIONS',
    `Others may write to the key directory ${path} (mode ${octal(mode)}) and could replace keys. Run: chmod go-w ${path}`,
    { path },
  )
}

/**
 * Read a private key file; undefined if there is none.
 * @throws SaltError PERMISSIONS if others may read it, KEY_INVALID if it is no regular file: a dangling link is no reason for a new key
 */
export async function readPrivateFile(path: string, permissive: boolean): Promise<string | undefined> {
  const irregularity = irregularityOf(path)
  if (irregularity) throw unusableKey(path, `${path} ${irregularity}.`)
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (!found) return undefined
  const forbidden = permissive ? OTHERS_BUT_GROUP_READS : OTHERS
  if ((found.mode & forbidden) === 0) return readFile(path, 'utf8')
  throw new SaltError(
    'PERMISSIONS',
    `Others may read the private key ${path} (mode ${octal(found.mode)}). Run: chmod 0400 ${path}`,
    { path },
  )
}

/** Return the error about a private key that cannot be used, with the remedy. */
export const unusableKey = (path: string, problem: string, cause?: unknown): SaltError =>
  new SaltError(
    'KEY_INVALID',
    `${problem} Restore it from a backup, or delete it to get a new one, which all peers must accept again.`,
    { path },
    { cause },
  )

const octal = (mode: number) => (mode & 0o777).toString(8).padStart(4, '0')
