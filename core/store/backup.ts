import { mkdtemp, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Environment } from './environment.ts'

/**
 * Write the present records of a store to another file, without its free pages, while others may write to the store. The file
 * appears once it is complete and on disk. Resolves with its size in bytes. Rejects with the system's or LMDB's error.
 */
export async function backUp(environment: Environment, path: string): Promise<number> {
  const folder = await mkdtemp(join(dirname(path), '.tmp-'))
  try {
    const copy = join(folder, 'copy.mdb')
    await environment.backup(copy, true)
    const file = await open(copy, 'r+')
    try {
      await file.chmod(0o600)
      await file.sync()
      const { size } = await file.stat()
      await rename(copy, path)
      return size
    } finally {
      await file.close()
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
