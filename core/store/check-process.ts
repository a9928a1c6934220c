/** Entry of the process that looks for damage in stores, whose paths are its arguments: it may die of what it reads. */
import { open } from 'lmdb'
import { messageOf } from '../base/errors.ts'
import { DAMAGED } from './check-store.ts'
import { durable } from './environment.ts'

/** What LMDB calls damage; others are that there is no room, no memory, no permission. */
const DAMAGE = /CORRUPTED|PAGE_NOTFOUND|INVALID|PANIC/

/** Read every byte of every record. */
function readAll(path: string) {
  const store = open(path, durable)
  for (const { value } of store.getRange({})) (value as Uint8Array).at(-1) // all of it was copied
  return store
}

/** What keeps account of free pages is read only by who writes. */
function writeOnce(store: ReturnType<typeof readAll>): void {
  store.transactionSync(() => {
    store.putSync(['check'], Buffer.alloc(2 ** 18))
    store.removeSync(['check'])
  })
}

for (const path of process.argv.slice(2)) {
  try {
    writeOnce(readAll(path))
  } catch (error) {
    if (!DAMAGE.test(messageOf(error))) continue
    process.stderr.write(messageOf(error))
    process.exit(DAMAGED)
  }
}
