/** Entry of the process that looks for damage in stores, whose paths are its arguments: it may die of what it reads. */
import { writeSync } from 'node:fs'
import { open } from 'lmdb'
import { messageOf } from '../base/errors.ts'
import { DAMAGED } from './check-store.ts'
import { durable } from './environment.ts'
import { StoreFile } from './tree.ts'

/** What LMDB calls damage; others are that there is no room, no memory, no permission. */
const DAMAGE = /CORRUPTED|PAGE_NOTFOUND|INVALID|PANIC/

/** For who waits for this one, and may have to say for what. */
const say = (what: 'lock' | 'read', path: string) => writeSync(1, `${what} ${path}\n`)

/** Pages of what a reader of LMDB sees are not written to, whoever else writes. */
function findDamage(path: string): string | undefined {
  say('lock', path) // which LMDB takes for opening, too
  const store = open(path, durable)
  say('read', path)
  const reading = store.useReadTransaction()
  const file = new StoreFile(path)
  const page = file.firstDamage()
  file.close()
  reading.done()
  if (page !== undefined) return `its page ${page} cannot be read`
  say('lock', path)
  writeOnce(store)
  return undefined
}

/** What keeps account of free pages is read only by who writes. */
function writeOnce(store: ReturnType<typeof open>): void {
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
