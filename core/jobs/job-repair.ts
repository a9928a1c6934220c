import type { Clock } from '../base/clock.ts'
import { isRecord } from '../base/record.ts'
import { keysUnder, type Store, type StoreKey } from '../store/index.ts'
import { isIndexed, putIndex } from './job-index.ts'

const JOBS_AT_ONCE = 200

/**
 * Build a missing index in short transactions, concurrently with other writers. It is used once it is complete. After a repair of
 * the store (`['salvaged']`) it is built again, and jobs that have lost their age record get a new one, since they would never
 * expire without it.
 */
export async function completeIndex(store: Store, clock: Clock): Promise<void> {
  if (isIndexed(store)) return
  const salvaged = store.has(['salvaged'])
  for (const jids of groups(store.keys(keysUnder('job')))) {
    await store.change((records) => {
      for (const jid of jids) {
        const job = records.get(['job', jid])
        if (isRecord(job) && isRecord(job.load)) putIndex(records, jid, job.load)
      }
    })
  }
  if (salvaged) await restoreAges(store, clock)
  await store.change((records) => {
    records.put(['indexed'], true)
    records.remove(['salvaged'])
  })
}

async function restoreAges(store: Store, clock: Clock): Promise<void> {
  const known = new Set(Array.from(store.keys(keysUnder('age')), (key) => String(key[2])))
  for (const kind of ['job', 'ret']) {
    for (const jids of groups(store.keys(keysUnder(kind)))) {
      const lost = [...new Set(jids)].filter((jid) => !known.has(jid))
      if (lost.length === 0) continue
      await store.change((records) => {
        for (const jid of lost) {
          if (!records.has(['job', jid])) records.put(['job', jid], { minions: [] })
          records.put(['age', clock.now(), jid], true)
          known.add(jid)
        }
      })
    }
  }
}

function* groups(keys: Iterable<StoreKey>): Generator<string[]> {
  let group: string[] = []
  for (const key of keys) {
    group.push(String(key[1]))
    if (group.length < JOBS_AT_ONCE) continue
    yield group
    group = []
  }
  yield group
}
