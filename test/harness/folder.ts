import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Make a folder in the temporary folder of this run; `removeFolder` takes it away again. */
export const temporaryFolder = (prefix = 'salt-ts-'): Promise<string> => mkdtemp(join(tmpdir(), prefix))

/** Remove a folder with all that is in it, also while a process that ends still writes there. */
export const removeFolder = (folder: string): Promise<void> =>
  rm(folder, { recursive: true, force: true, maxRetries: 5 })
