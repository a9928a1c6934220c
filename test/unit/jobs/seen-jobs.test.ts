import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { SeenJobs } from '../../../core/jobs/index.ts'

const hour = 3_600_000
const jid = (n: number) => `2024022912000000${String(n).padStart(4, '0')}`

let directory: string
let seen: SeenJobs
let now: number

const accept = (n: number, serial: number | undefined = n, keyDigest = 'key') =>
  seen.accept({ keyDigest, serial, jid: jid(n), now })

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'salt-seen-'))
  seen = SeenJobs.open(directory)
  now = Date.UTC(2024, 1, 29)
})
afterEach(async () => {
  await seen.close()
  await rm(directory, { recursive: true })
})

test('a publication is accepted once', async () => {
  expect(await Promise.all([accept(1), accept(1), accept(2)])).toEqual([true, false, true])
})

test('a recorded publication is refused after a restart, an hour later, and after many other jobs', async () => {
  expect(await accept(1)).toBe(true)
  await Promise.all(Array.from({ length: 101 }, (_, n) => accept(n + 2)))
  await seen.close()
  seen = SeenJobs.open(directory)
  now += hour
  expect(await accept(1)).toBe(false)
  expect(await accept(1, 500)).toBe(false)
})

test('what cannot be stored is accepted once as well, unless it was stored before', async () => {
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

test('masters that do not count are told apart by their jids', async () => {
  expect(await seen.accept({ keyDigest: 'key', serial: undefined, jid: jid(1), now })).toBe(true)
  expect(await seen.accept({ keyDigest: 'key', serial: undefined, jid: jid(1), now })).toBe(false)
  expect(await seen.accept({ keyDigest: 'key', serial: undefined, jid: jid(2), now })).toBe(true)
})

test('what is refused changes nothing', async () => {
  await accept(1, 5)
  expect(await accept(1, 9)).toBe(false)
  expect(await accept(2, 6)).toBe(true)
})

test('jids are forgotten after a day, while serials still refuse their publications', async () => {
  await accept(1, 1)
  now += 25 * hour
  await accept(2, 2)
  expect(await accept(1, 1)).toBe(false)
  expect(await accept(1, 3)).toBe(true)
})
