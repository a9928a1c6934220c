import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { removeFolder, temporaryFolder } from './folder.ts'

const returner_dirs = [fileURLToPath(new URL('../fixtures/returners', import.meta.url))]

/** A store of files in a folder for the returner `folder` of the fixtures: without the folder it is away. */
export async function folderStore() {
  const root = await temporaryFolder('salt-ts-stores-')
  const store = join(root, 'store')
  await mkdir(store)
  return {
    /** For what else is written. */
    root,
    store,
    /** Configuration with which the returner finds it, and tries again soon. */
    options: {
      returner_dirs,
      'folder.path': store,
      outbox_retry_timer: 0.05,
      outbox_retry_timer_max: 0.2,
    },
    drop: () => removeFolder(root),
  }
}
