/** Entry of the process that checks stores for damage, since damage may crash it. Its arguments are their paths. */
import { writeSync } from 'node:fs'
import { messageOf } from '../base/errors.ts'
import { DAMAGED } from './check-store.ts'
import { DURABLE_LMDB_OPTIONS, type Environment, openLmdb } from './environment.ts'
import { StoreFile } from './salvage/tree.ts'

/** LMDB's errors for damage; others are about disk space, memory or permissions. */
const DAMAGE = /CORRUPTED|PAGE_NOTFOUND|INVALID|PANIC/

/** Report the current step to the parent process. */
const report = (what: 'lock' | 'read', path: string) => writeSync(1, `${what} ${path}\n`)

/** Find damage in a store. Other processes may write meanwhile, but not to the pages of an open read transaction. */
function findDamage(path: string): string | undefined {
  report('lock', path) // LMDB takes the lock to open a file, too
  const store = openLmdb(path, DURABLE_LMDB_OPTIONS)
  report('read', path)
  const reading = store.useReadTransaction()
  const file = new StoreFile(path)
  const page = file.firstDamage()
  file.close()
  reading.done()
  if (page !== undefined) return `its page ${page} cannot be read`
  report('lock', path)
  writeOnce(store)
  return undefined
}

/** Write to the store, since only a writer reads the tree of free pages. */
function writeOnce(store: Environment): void {
  store.transactionSync(() => {
    store.putSync(['check'], Buffer.alloc(2 ** 18))
    store.removeSync(['check'])
  })
}

function end(damage: string): never {
  process.stderr.write(damage)
  process.exit(DAMAGED)
}

for (const path of process.argv.slice(2)) {
  try {
    const damage = findDamage(path)
    if (damage) end(damage)
  } catch (error) {
    if (DAMAGE.test(messageOf(error))) end(messageOf(error))
  }
}
