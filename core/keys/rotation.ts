import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Its existence asks the master for a new AES key (wire protocol §9, "Key rotation"). */
export const rotationFlag = ({ cachedir }: { readonly cachedir: string }): string => join(cachedir, '.dfn')

/** Ask the master for a new AES key; one that was asked for already will do. */
export async function askForRotation(config: { readonly cachedir: string }): Promise<void> {
  await writeFile(rotationFlag(config), '', { mode: 0o400, flag: 'wx' }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    },
  )
}
