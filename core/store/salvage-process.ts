/** Entry of the process that makes a new store of what is whole in a damaged one: `<damaged> <new>`. Says what it found as JSON. */
import { open } from 'lmdb'
import { durable } from './environment.ts'
import { seal } from './record.ts'
import { StoreFile } from './tree.ts'

const RECORDS_AT_ONCE = 2000

const [damaged = '', fresh = ''] = process.argv.slice(2)

/** Keys as they lie in the file. */
async function copyRecords(): Promise<{ saved: number; entries: number | undefined }> {
  const source = new StoreFile(damaged)
  const target = open<Buffer, Buffer>(fresh, { ...durable, keyEncoding: 'binary', noSync: true })
  let saved = 0
  const write = (group: readonly { readonly key: Buffer; readonly value: Buffer }[]) =>
    target.transactionSync(() => {
      for (const { key, value } of group) {
        if (target.doesExist(key)) continue
        target.putSync(key, value)
        saved++
      }
    })
  for (const group of groups(source.records())) write(group)
  await target.close()
  source.close()
  return { saved, entries: source.entries }
}

/** Whoever keeps an index in it sees by this that it has gaps. */
async function mark(): Promise<void> {
  const store = open(fresh, durable)
  store.transactionSync(() => void store.putSync(['salvaged'], seal(true)))
  await store.close()
}

function* groups<T>(all: Iterable<T>): Generator<T[]> {
  let group: T[] = []
  for (const one of all) {
    group.push(one)
    if (group.length < RECORDS_AT_ONCE) continue
    yield group
    group = []
  }
  yield group
}

const found = await copyRecords()
if (found.saved > 0) await mark()
process.stdout.write(JSON.stringify(found))
