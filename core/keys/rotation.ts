import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Path of the file whose existence makes the master rotate its AES key (wire protocol §9, "Key rotation"). */
export const rotationFlagPath = ({ cachedir }: { readonly cachedir: string }): string =>
  join(cachedir, '.dfn')

/** Ask the master to rotate its AES key. Does nothing if a rotation was requested already. */
export async function requestRotation(config: { readonly cachedir: string }): Promise<void> {
  await writeFile(rotationFlagPath(config), '', { mode: 0o400, flag: 'wx' }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    },
  )
}
