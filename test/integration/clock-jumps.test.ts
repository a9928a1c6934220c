/** The clock of a host goes ahead by eight days, and is set right a little later. */
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Attempts } from '../../core/auth/login/attempts.ts'
import type { TokenRecord, TokenStore } from '../../core/auth/tokens/contract.ts'
import { Tokens } from '../../core/auth/tokens/tokens.ts'
import { monotonicClock } from '../../core/base/clock.ts'
import { SteadyTime } from '../../core/base/steady-time.ts'
import { AesKeys } from '../../core/channel/aes-keys.ts'
import { SymmetricKey } from '../../core/crypto/index.ts'
import { ReturnSpool } from '../../core/jobs/return-spool.ts'
import { Unannounced } from '../../core/jobs/unannounced.ts'
import { Invites } from '../../core/keys/invites.ts'
import { Outbox } from '../../core/outbox/outbox.ts'
import { openStore, type Store } from '../../core/store/index.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { keyPair } from '../harness/key-pairs.ts'

const DAYS = 8 * 86_400_000

let folder: string
let store: Store
let ahead: number
const clock = { now: () => 1_800_000_000_000 + ahead }
beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-clock-')
  store = openStore(join(folder, 'test.mdb'))
  ahead = 0
})
afterEach(async () => {
  vi.useRealTimers()
  await store.close()
  await removeFolder(folder)
})

test('an invitation remains when another one is made meanwhile', async () => {
  const invites = new Invites(folder, { clock })
  const { publicKey } = await keyPair('master')
  const make = () => invites.make({ match: '*', uses: 1, ttlMs: 3_600_000, user: 'root' }, publicKey)
  const { invite } = await make()
  ahead = DAYS
  await make()
  ahead = 0
  expect(invites.list().map(({ id }) => id)).toContain(invite.id)
  await invites.close()
})

test('a token that is used meanwhile stays valid', async () => {
  const kept = new Map<string, TokenRecord>()
  const tokens = new Tokens({
    open: async () =>
      ({
        put: async (digest: string, record: TokenRecord) => void kept.set(digest, record),
        get: async (digest: string) => kept.get(digest),
        remove: async (digest: string) => kept.delete(digest),
      }) as unknown as TokenStore,
    clock: new SteadyTime({ clock, elapsed: () => 0, onLeap: () => {} }),
    isCurrent: () => true,
  })
  const { token } = await tokens.make({ name: 'ada', eauth: 'file' } as never, 3600)
  ahead = DAYS
  expect(await tokens.find(token)).toMatchObject({ name: 'ada' })
  ahead = 0
  expect(await tokens.find(token)).toMatchObject({ name: 'ada' })
})

test('a user who is locked out for a minute meanwhile is not locked out for days', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const attempts = new Attempts({ limit: 1, lockMs: 60_000 })
  vi.setSystemTime(Date.now() + DAYS)
  ;(await attempts.begin('ada', 1, () => false))?.('failed')
  vi.setSystemTime(Date.now() - DAYS)
  expect(attempts.lockedFor('ada')).toBeLessThanOrEqual(60_000)
})

test('the AES key before the last opens requests as long as it should', () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const keys = new AesKeys(SymmetricKey.generate(), 60_000, monotonicClock)
  keys.rotate()
  vi.setSystemTime(Date.now() + DAYS)
  expect(keys.accepted()).toHaveLength(2)
})

test('an entry that is added to an outbox meanwhile does not wait for days to be sent', async () => {
  const outbox = new Outbox(store, clock)
  ahead = DAYS
  await outbox.add(['file'], [{ kind: 'return', ret: {} }])
  ahead = 0
  const batch = await outbox.next('file', { gather: { ms: 1000, entries: 100 } })
  expect(batch?.entries).toHaveLength(1)
})

test('a return whose worker died meanwhile is announced', async () => {
  const unannounced = new Unannounced(store, clock)
  await store.change((records) => {
    records.put(['ret', '20261122000000000001', 'web1'], { return: true })
    Unannounced.put(records, '20261122000000000001', 'web1', clock.now() + DAYS)
  })
  expect(await unannounced.take(clock.now() - 5000)).toMatchObject({ id: 'web1' })
  expect(await unannounced.take(clock.now() - 5000)).toBeUndefined()
})

test('a minion that is started meanwhile continues from the last job it accepted', async () => {
  const spool = ReturnSpool.open(join(folder, 'spool'))
  expect(spool.seen?.latest).toBeUndefined()
  for (const [serial, jid] of ['20261122000000000001', '20261122000000000002'].entries())
    await spool.seen?.accept({ keyDigest: 'k', serial: serial + 1, jid, now: 1000 + serial })
  expect(spool.seen?.latest).toBe(1001)
  await spool.close()
})
