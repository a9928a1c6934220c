/** Files with secrets among those of a package, which whoever gets it can read. */
import { open } from 'node:fs/promises'
import path from 'node:path'

const NAMES = /^\.(?:env(?:\.(?!example$|sample$|template$).*)?|git-credentials|netrc|npmrc|pgpass)$/
const PRIVATE_KEY = /^-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----|^PuTTY-User-Key-File-/m
/** A key is at the beginning of its file. */
const READ_BYTES = 64 * 1024

/** Return a sentence for each file, by paths in the folder, that seems to hold secrets. */
export async function secretsIn(folder: string, files: readonly string[]): Promise<string[]> {
  const found: string[] = []
  const own = files.filter((file) => !file.startsWith('node_modules/')) // packages that are bundled are public
  for (const file of own)
    if (NAMES.test(path.basename(file)) || PRIVATE_KEY.test(await beginning(path.join(folder, file))))
      found.push(
        `${file} seems to hold secrets, and npm would pack it: move it out of the folder, or add "!${file}" to "files".`,
      )
  return found
}

async function beginning(file: string): Promise<string> {
  const opened = await open(file)
  try {
    const { buffer, bytesRead } = await opened.read(Buffer.alloc(READ_BYTES), 0, READ_BYTES, 0)
    return buffer.toString('latin1', 0, bytesRead)
  } finally {
    await opened.close()
  }
}
