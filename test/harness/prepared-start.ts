import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { giveKey } from './private-keys.ts'

/**
 * Write what an earlier `npm start` in this folder would have left: keys, whose making takes as long as half a start, and a
 * configuration, here with one worker. `minionOptions` are added to that of the minion.
 */
export async function prepareStart(folder: string, minionOptions: object): Promise<void> {
  const own = join(folder, '.salt')
  const module_dirs = [own]
  const file_roots = { base: [join(own, 'files')] }
  const master = { interface: '127.0.0.1', module_dirs, file_roots, worker_threads: 1 }
  const minion = { id: 'minion', master: '127.0.0.1', acceptance_wait_time: 1, module_dirs, ...minionOptions }
  for (const [role, options] of Object.entries({ master, minion })) {
    await giveKey(join(own, 'pki', role), role)
    await writeFile(join(own, role), stringify(options), { mode: 0o600 })
  }
}
