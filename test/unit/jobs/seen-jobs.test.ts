import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ReturnSpool } from '../../../core/jobs/return-spool.ts'
import { markBegun, SeenJobs } from '../../../core/jobs/seen-jobs.ts'
import { openStore, type Store } from '../../../core/store/index.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'

const hour = 3_600_000
const jid = (n: number) => `2024022912000000${String(n).padStart(4, '0')}`

let directory: string
let store: Store
let seen: SeenJobs
let now: number

function open(): void {
  store = openStore(join(directory, 'returns.mdb'))
  seen = new SeenJobs(store)
}

const accept = (n: number, serial: number | undefined = n, keyDigest = 'key') =>
  seen.accept({ keyDigest, serial, jid: jid(n), now })

beforeEach(async () => {
  directory = await temporaryFolder('salt-seen-')
  open()
  now = Date.UTC(2024, 1, 29)
})
afterEach(async () => {
  await store.close()
  await removeFolder(directory)
})

test('a publication is accepted once', async () => {
  expect(await Promise.all([accept(1), accept(1), accept(2)])).toEqual([true, false, true])
})

test('a recorded publication is refused after a restart, an hour later, and after many other jobs', async () => {
  expect(await accept(1)).toBe(true)
  await Promise.all(Array.from({ length: 101 }, (_, n) => accept(n + 2)))
  await store.close()
  open()
  now += hour
  expect(await accept(1)).toBe(false)
  expect(await accept(1, 500)).toBe(false)
})

test('a publication that cannot be stored is accepted once as well, unless it was stored before', async () => {
  const unstored = (n: number, serial = n) =>
    seen.acceptUnstored({ keyDigest: 'key', serial, jid: jid(n), now })
  expect(await accept(1)).toBe(true)
  expect([unstored(1, 100), unstored(2, 1), unstored(2), unstored(2)]).toEqual([false, false, true, false])
  expect(await accept(2, 100)).toBe(false)
})

test('an old serial is refused even with a new jid', async () => {
  expect(await accept(1, 10)).toBe(true)
  expect(await accept(2, 10)).toBe(false)
  expect(await accept(3, 9)).toBe(false)
  expect(await accept(4, 11)).toBe(true)
})

test('serials start anew with another key', async () => {
  expect(await accept(1, 10, 'old')).toBe(true)
  expect(await accept(2, 1, 'new')).toBe(true)
  expect(await accept(3, 10, 'old')).toBe(false)
})

test('publications without a serial are distinguished by their jids', async () => {
  expect(await seen.accept({ keyDigest: 'key', serial: undefined, jid: jid(1), now })).toBe(true)
  expect(await seen.accept({ keyDigest: 'key', serial: undefined, jid: jid(1), now })).toBe(false)
  expect(await seen.accept({ keyDigest: 'key', serial: undefined, jid: jid(2), now })).toBe(true)
})

test('a refused publication changes nothing', async () => {
  await accept(1, 5)
  expect(await accept(1, 9)).toBe(false)
  expect(await accept(2, 6)).toBe(true)
})

test('jids are removed after a day, while serials still refuse their publications', async () => {
  await accept(1, 1)
  now += 25 * hour
  await accept(2, 2)
  expect(await accept(1, 1)).toBe(false)
  expect(await accept(1, 3)).toBe(true)
})

describe('an accepted job counts as unfinished', () => {
  const job = { jid: jid(1), fun: 'cmd.run', arg: ['echo hunter2'] }
  const owed = { job, master: 'master:4506', words: { args: ['1.10'], kwargs: {} }, begun: false }
  const withoutArguments = { ...owed, job: { ...job, arg: [] } }

  async function reopen(): Promise<void> {
    await store.close()
    open()
  }

  test('from the moment it is seen, also after a restart, and without its arguments once it has begun', async () => {
    expect(await seen.accept({ keyDigest: 'key', serial: 1, jid: job.jid, now }, owed)).toBe(true)
    await reopen()
    expect(seen.unsettled()).toEqual([owed])
    await seen.begin(job.jid)
    await reopen()
    expect(seen.unsettled()).toEqual([{ ...withoutArguments, words: undefined, begun: true }])
    expect(markBegun(owed)).toEqual({ job: withoutArguments.job, master: owed.master, begun: true })
  })

  test('until its return is in the spool, or no return is due', async () => {
    const spool = ReturnSpool.open(directory)
    for (const n of [1, 2])
      await spool.seen?.accept(
        { keyDigest: 'key', serial: n, jid: jid(n), now },
        { ...owed, job: { ...job, jid: jid(n) } },
      )
    await spool.add({ jid: jid(1), ret: { return: 1 } })
    expect(spool.seen?.unsettled().map(({ job }) => job.jid)).toEqual([jid(2)])
    await spool.seen?.settle(jid(2))
    expect(spool.seen?.unsettled()).toEqual([])
    await spool.close()
  })
})

test('the separate store of an earlier version is taken over', async () => {
  const file = join(directory, 'seen', 'jobs.mdb')
  const old = openStore(file)
  await new SeenJobs(old).accept({ keyDigest: 'key', serial: 7, jid: jid(1), now })
  await old.close()
  await seen.importFrom(file)
  await seen.importFrom(file)
  expect([await accept(1, 8), await accept(2, 7), await accept(3, 8)]).toEqual([false, false, true])
})

test('jobs that are accepted in memory while the disk is full do not fill the memory', () => {
  const unstored = (n: number) =>
    seen.acceptUnstored({ keyDigest: 'key', serial: undefined, jid: `${n}`.padStart(20, '0'), now })
  for (let n = 0; n <= 10_000; n++) expect(unstored(n)).toBe(true)
  expect(unstored(10_000)).toBe(false)
  expect(unstored(0)).toBe(true) // forgotten
})
