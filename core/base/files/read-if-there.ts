import { readFile } from 'node:fs/promises'

/** Read the text of a file; undefined if there is none. Rejects with the system's error if it cannot be read. */
export async function readIfThere(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
    return undefined
  })
}
