/**
 * Entry of the process that copies the intact records of a damaged store to a new one: `<damaged> <new> <process id of the
 * parent>`. Prints the result as JSON. Ends with its parent.
 */
import { open } from 'lmdb'
import { DURABLE_LMDB_OPTIONS } from '../environment.ts'
import { withChecksum } from '../record.ts'
import { StoreFile } from './tree.ts'

const RECORDS_AT_ONCE = 2000

const [damaged = '', fresh = '', parent = ''] = process.argv.slice(2)

/** Copy the records, with their keys in encoded form. */
async function copyRecords(): Promise<{ saved: number; entries: number | undefined }> {
  const source = new StoreFile(damaged)
  const target = open<Buffer, Buffer>(fresh, { ...DURABLE_LMDB_OPTIONS, keyEncoding: 'binary', noSync: true })
  let saved = 0
  const write = (group: readonly { readonly key: Buffer; readonly value: Buffer }[]) =>
    target.transactionSync(() => {
      for (const { key, value } of group) {
        if (target.doesExist(key)) continue
        target.putSync(key, value)
        saved++
      }
    })
  for (const group of groups(source.records())) {
    if (process.ppid !== Number(parent)) process.exit(1) // the parent that waited for the new store has ended
    write(group)
  }
  await target.close()
  source.close()
  return { saved, entries: source.entries }
}

/** Mark the new store as incomplete, so that users of an index in it can rebuild that. */
async function mark(): Promise<void> {
  const store = open(fresh, DURABLE_LMDB_OPTIONS)
  store.transactionSync(() => void store.putSync(['salvaged'], withChecksum(true)))
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

async function main(): Promise<void> {
  const found = await copyRecords()
  if (found.saved > 0) await mark()
  process.stdout.write(JSON.stringify(found))
}

void main()
