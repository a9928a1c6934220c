import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { TokenRecord } from '../../../../core/auth/tokens/contract.ts'
import { openEmbeddedTokens } from '../../../../core/auth/tokens/embedded.ts'
import { MinionData } from '../../../../core/cache/minion-data.ts'
import { MinionStarts } from '../../../../core/cache/minion-starts.ts'
import { AesKeys } from '../../../../core/channel/aes-keys.ts'
import { type PrivateKey, SymmetricKey } from '../../../../core/crypto/index.ts'
import { KeyStore } from '../../../../core/keys/index.ts'
import { KeyFileStore } from '../../../../core/keys/key-files.ts'
import { replicatedFacts, replicatedStarts } from '../../../../core/master/cluster/minion-facts.ts'
import { replicatedKeys } from '../../../../core/master/cluster/minion-keys.ts'
import { Replica } from '../../../../core/master/cluster/replica.ts'
import { sharedKey } from '../../../../core/master/cluster/shared-key.ts'
import { SharedValues } from '../../../../core/master/cluster/shared-values.ts'
import { replicatedTokens } from '../../../../core/master/cluster/user-tokens.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { keyPair } from '../../../harness/key-pairs.ts'
import { spyLog } from '../../../harness/log.ts'
import { MemoryStore } from '../../../harness/memory-store.ts'
import { SLOW } from '../../../harness/slow.ts'

const start = { token: 'abcdef', address: '10.0.0.1', host: 'web1', pid: 7, at: 1000 }

describe('masters of a cluster', () => {
  let root: string
  let store: MemoryStore
  let masterKey: PrivateKey
  let closing: (() => Promise<void>)[]
  let now: number
  /** The masters that have learned that a key is no longer accepted. */
  let revoked: string[]
  beforeEach(async () => {
    root = await temporaryFolder()
    store = new MemoryStore()
    masterKey = await keyPair('master')
    closing = []
    revoked = []
    now = 1_800_000_000_000
  })
  afterEach(async () => {
    for (const close of closing.reverse()) await close()
    await removeFolder(root)
  })

  async function master(name: string, key = masterKey, without: readonly string[] = []) {
    const folder = join(root, name)
    await mkdir(folder, { recursive: true })
    const data = MinionData.open(folder)
    const starts = MinionStarts.open(folder)
    const tokens = await openEmbeddedTokens(folder)
    const aesKeys = new AesKeys(SymmetricKey.generate(), 0, { now: Date.now })
    const aes = sharedKey(aesKeys, (text, revoke) => {
      aesKeys.rotate(SymmetricKey.parse(text), { revoke })
      aes.rotated(revoke)
    })
    const log = spyLog()
    const replica = Replica.open(folder, {
      shared: new SharedValues(store, 'north', key),
      kinds: [
        replicatedKeys(folder, () => revoked.push(name)),
        replicatedFacts(data),
        replicatedStarts(starts),
        replicatedTokens(tokens),
        aes,
      ].filter((kind) => !without.includes(kind.name)),
      cluster: 'north',
      master: name,
      log,
      now: () => now,
      checkMs: 0,
    })
    const close = async () => {
      await replica.close()
      await data.close()
      await starts.close()
      await tokens.close()
    }
    closing.push(close)
    return { close, folder, tokens, keys: new KeyStore(folder), data, starts, aesKeys, aes, log, replica }
  }
  async function closeMaster({ close }: Awaited<ReturnType<typeof master>>) {
    closing.splice(closing.indexOf(close), 1)
    await close()
  }
  const putBack = (value: { key: string; value: Uint8Array }) =>
    store.values.set(value.key, { ...value, revision: ++store.last })
  const pemOf = async (id: string) => (await keyPair(id)).publicKey.pem
  const file = async (folder: string, state: string, id: string, pem: string) => {
    await mkdir(join(folder, state), { recursive: true })
    await writeFile(join(folder, state, id), pem)
  }

  test('have the same keys, whichever of them files, accepts, rejects or deletes one', SLOW, async () => {
    const [one, two] = [await master('one'), await master('two')]
    const both = async () => {
      await one.replica.exchange()
      await two.replica.exchange()
      await one.replica.exchange()
    }
    await file(one.folder, 'minions_pre', 'web1', await pemOf('web1'))
    await file(two.folder, 'minions_pre', 'web2', await pemOf('web2'))
    await both()
    expect(await one.keys.list('pending')).toEqual(['web1', 'web2'])
    expect(await two.keys.list()).toEqual(await one.keys.list())
    await two.keys.accept('web1')
    await one.keys.accept('web2')
    await both()
    expect(await one.keys.list('accepted')).toEqual(['web1', 'web2'])
    expect(await one.keys.list('pending')).toEqual([])
    expect(await two.keys.list()).toEqual(await one.keys.list())
    await one.keys.reject('web1', { includeAccepted: true })
    await two.keys.remove('web2')
    await both()
    expect(await two.keys.list()).toMatchObject({ accepted: [], rejected: ['web1'] })
    expect(await one.keys.list()).toEqual(await two.keys.list())
    expect(two.keys.accepted('web1')).toBeUndefined()
    expect(revoked.sort()).toEqual(['one', 'two'])
  })

  test('share grains, pillar and starts of minions, and remove them together', async () => {
    const [one, two] = [await master('one'), await master('two')]
    await one.data.save('web1', { grains: { os: 'Debian', cpus: 4, ram: 3.5 }, pillar: { secret: 'x' } })
    await one.starts.save('web1', start, start.at)
    await one.replica.exchange()
    await two.replica.exchange()
    expect(two.data.grains('web1')).toEqual({ os: 'Debian', cpus: 4, ram: 3.5 })
    expect(two.data.pillar('web1')).toEqual({ secret: 'x' })
    expect(two.starts.idOf('abcdef')).toBe('web1')
    expect(JSON.stringify([...store.values.values()].map(({ value }) => String(value)))).not.toContain(
      'Debian',
    )
    const { last } = store
    for (const each of [one, two, one, two]) await each.replica.exchange()
    expect(store.last).toBe(last)
    await two.data.remove('web1')
    await two.replica.exchange()
    await one.replica.exchange()
    expect(one.data.grains('web1')).toBeUndefined()
  })

  test('use one AES key, the first one in the store, and rotate it together', async () => {
    const [one, two] = [await master('one'), await master('two')]
    await one.replica.exchange()
    await two.replica.exchange()
    expect(two.aesKeys.current.text).toBe(one.aesKeys.current.text)
    two.aesKeys.rotate()
    two.aes.rotated(true)
    await two.replica.exchange()
    await one.replica.exchange()
    expect(one.aesKeys.current.text).toBe(two.aesKeys.current.text)
    expect(one.aesKeys.accepted()).toHaveLength(1)
  })

  const token = (lifetime: number): TokenRecord => ({
    start: now / 1000,
    expire: now / 1000 + lifetime,
    name: 'fred',
    eauth: 'file',
    groups: ['admins'],
    rights: 'xyz',
  })
  const [first, second] = ['1'.repeat(64), '2'.repeat(64)] as const

  test('share tokens of users, and revoke them together', async () => {
    const [one, two] = [await master('one'), await master('two')]
    const record = token(60.25)
    await one.tokens.put(first, record)
    for (const each of [one, two]) await each.replica.exchange()
    expect(await two.tokens.get(first)).toEqual(record)
    await two.tokens.remove(first)
    for (const each of [two, one, two]) await each.replica.exchange()
    expect(await one.tokens.get(first)).toBeUndefined()
    await one.tokens.put(second, token(60))
    for (const each of [one, two]) await each.replica.exchange()
    expect(await two.tokens.digests()).toEqual([second])
  })

  test('remove expired tokens, and do not take them over again', async () => {
    const [one, two] = [await master('one'), await master('two')]
    await one.tokens.put(first, token(60))
    await one.tokens.put(second, token(6000))
    for (const each of [one, two]) await each.replica.exchange()
    const old = store.values.get(`token/${first}`)!
    now += 61_000
    for (const { tokens } of [one, two]) await tokens.expire(now / 1000)
    const { last } = store
    for (const each of [one, two]) await each.replica.exchange()
    expect(store.last).toBe(last)
    await one.tokens.remove(second)
    for (const each of [one, two]) await each.replica.exchange()
    now += 3 * 3_600_000
    await closeMaster(two)
    const again = await master('two')
    for (const each of [again, one, again]) await each.replica.exchange()
    expect([...store.values.keys()].filter((key) => key.startsWith('token/'))).toEqual([])
    putBack(old)
    for (const each of [again, one]) await each.replica.exchange()
    for (const { tokens } of [again, one]) expect(tokens.digests()).toEqual([])
    expect([...store.values.keys()].filter((key) => key.startsWith('token/'))).toEqual([])
  })

  test('keep their AES key when one of them is restarted', async () => {
    const [one, two] = [await master('one'), await master('two')]
    await one.replica.exchange()
    await two.replica.exchange()
    await closeMaster(two)
    const again = await master('two')
    await again.replica.restore()
    await again.replica.exchange()
    await one.replica.exchange()
    expect(again.aesKeys.current.text).toBe(two.aesKeys.current.text)
    expect(one.aesKeys.current.text).toBe(two.aesKeys.current.text)
  })

  test('agree after both have changed a key at once', SLOW, async () => {
    const [one, two] = [await master('one'), await master('two')]
    await file(one.folder, 'minions_pre', 'web1', await pemOf('web1'))
    await one.replica.exchange()
    await two.replica.exchange()
    await one.keys.reject('web1')
    await two.keys.accept('web1')
    await one.replica.exchange()
    await two.replica.exchange()
    expect(await two.keys.state('web1')).toBe('rejected')
    expect(await one.keys.state('web1')).toBe('rejected')
  })

  test(
    'keep an accepted key that was filed at another master at the same time, and prefer a rejection',
    SLOW,
    async () => {
      const [one, two] = [await master('one'), await master('two')]
      await two.replica.exchange()
      await file(one.folder, 'minions', 'web1', await pemOf('web1'))
      await file(two.folder, 'minions_pre', 'web1', await pemOf('web1'))
      await file(one.folder, 'minions_rejected', 'web2', await pemOf('web2'))
      await file(two.folder, 'minions', 'web2', await pemOf('web2'))
      for (const each of [two, one, two]) await each.replica.exchange()
      expect(await one.keys.list()).toEqual({
        accepted: ['web1'],
        denied: [],
        pending: [],
        rejected: ['web2'],
      })
      expect(await two.keys.list()).toEqual(await one.keys.list())
    },
  )

  test('exchange later what changed during an outage of the store, or what an earlier run did not send', async () => {
    const [one, two] = [await master('one'), await master('two')]
    await one.replica.exchange()
    store.isAway = true
    await one.data.save('web1', { grains: { os: 'Debian' } })
    await expect(one.replica.exchange()).rejects.toThrow('the store is away')
    store.isAway = false
    await one.replica.exchange()
    await two.replica.exchange()
    expect(two.data.grains('web1')).toEqual({ os: 'Debian' })
  })

  test('fill a store that has lost its values', async () => {
    const [one, two] = [await master('one'), await master('two')]
    await file(one.folder, 'minions', 'web1', await pemOf('web1'))
    await one.replica.exchange()
    await two.replica.exchange()
    store.values.clear()
    store.last = 0
    await two.replica.exchange()
    await one.replica.exchange()
    const three = await master('three')
    await three.replica.exchange()
    expect(await three.keys.list('accepted')).toEqual(['web1'])
    expect(await one.keys.list('accepted')).toEqual(['web1'])
  })

  test('ignore foreign values in the store: they are replaced, and old ones are not used again', async () => {
    const [one, two] = [await master('one'), await master('two')]
    await file(one.folder, 'minions', 'web1', await pemOf('web1'))
    await one.replica.exchange()
    await two.replica.exchange()
    const accepted = store.values.get('key/web1')
    await one.keys.remove('web1')
    await one.replica.exchange()
    await two.replica.exchange()
    const set = (key: string, value: Uint8Array | undefined) =>
      store.values.set(key, { key, value: value ?? Buffer.alloc(0), revision: ++store.last })
    set('key/web2', accepted?.value)
    set('key/web3', Buffer.from('junk'))
    await two.replica.exchange()
    expect(await two.keys.list()).toEqual({ accepted: [], denied: [], pending: [], rejected: [] })
    expect(two.log.error.mock.lastCall?.[0]).toContain('are not used')
    set('key/web1', accepted?.value)
    await two.replica.exchange()
    await one.replica.exchange()
    expect(await two.keys.state('web1')).toBeUndefined()
    expect(await one.keys.state('web1')).toBeUndefined()
  })

  test('refuse a store with the values of masters that have another key, each time', SLOW, async () => {
    const stranger = await master('stranger', await keyPair('stranger'), ['aes'])
    await stranger.replica.exchange()
    const one = await master('one', masterKey, ['aes'])
    await file(one.folder, 'minions', 'web1', await pemOf('web1'))
    await one.replica.exchange()
    const before = new Map(store.values)
    await file(stranger.folder, 'minions', 'web1', await pemOf('evil'))
    for (let times = 0; times < 3; times++)
      await expect(stranger.replica.exchange()).rejects.toThrow(
        'the store has values for the cluster north that no master with the key of this one has set',
      )
    expect(store.values).toEqual(before)
    await one.replica.exchange()
    expect(await one.keys.list('accepted')).toEqual(['web1'])
  })

  test('keep the values of a kind that one of them no longer shares', async () => {
    const [one, two] = [await master('one'), await master('two')]
    await one.tokens.put(first, token(60))
    for (const each of [one, two]) await each.replica.exchange()
    await closeMaster(two)
    const without = await master('two', masterKey, ['token'])
    const asked = vi.spyOn(store, 'sharedSince')
    for (let times = 0; times < 3; times++) await without.replica.exchange()
    const { length } = asked.mock.calls
    await without.replica.exchange()
    expect(asked.mock.calls.length - length).toBeLessThanOrEqual(2)
    store.values.clear()
    for (const each of [without, one, without, one]) await each.replica.exchange()
    expect(one.tokens.digests()).toEqual([first])
  })

  test('follow a decision that was made after one that the store took without an answer', async () => {
    const { one, two } = await bothHave('web1')
    await one.keys.reject('web1', { includeAccepted: true })
    const put = store.putShared.bind(store)
    store.putShared = async (...asked) => {
      await put(...asked)
      throw new Error('no answer')
    }
    await expect(one.replica.exchange()).rejects.toThrow('no answer')
    store.putShared = put
    await two.replica.exchange()
    await two.keys.accept('web1', { includeRejected: true })
    for (const each of [two, one, two]) await each.replica.exchange()
    for (const { keys } of [one, two]) expect(await keys.list('accepted')).toEqual(['web1'])
  })

  test('restore values that one of them has lost since its last run, rather than remove them everywhere', async () => {
    const [one, two] = [await master('one'), await master('two')]
    const ids = Array.from({ length: 10 }, (_, n) => `web${n}`)
    for (const id of ids) await file(one.folder, 'minions', id, await pemOf('web1'))
    for (const each of [one, two]) await each.replica.exchange()
    await closeMaster(two)
    await rm(join(two.folder, 'minions'), { recursive: true })
    const again = await master('two')
    for (const each of [again, one, again]) await each.replica.exchange()
    for (const { keys } of [one, again]) expect(await keys.list('accepted')).toEqual(ids)
    expect(again.log.error.mock.calls.flat().join()).toContain('All 10 values of the kind')
    await closeMaster(again)
    for (const id of ids.slice(1)) await rm(join(two.folder, 'minions', id))
    const third = await master('two')
    for (const each of [third, one]) await each.replica.exchange()
    expect(await one.keys.list('accepted')).toEqual(['web0'])
  })

  const bothHave = async (id: string) => {
    const one = await master('one')
    await file(one.folder, 'minions', id, await pemOf(id))
    await one.replica.exchange()
    const two = await master('two')
    await two.replica.exchange()
    expect(await two.keys.list('accepted')).toEqual([id])
    return { one, two }
  }
  const copyOf = () => ({ values: new Map(store.values), last: store.last })

  test('do not accept a deleted or rejected key again when old values of the store are restored', async () => {
    const { one, two } = await bothHave('web1')
    await file(two.folder, 'minions', 'web2', await pemOf('web2'))
    for (const each of [two, one]) await each.replica.exchange()
    const before = copyOf()
    await one.keys.remove('web1')
    await one.keys.reject('web2', { includeAccepted: true })
    for (const each of [one, two]) await each.replica.exchange()
    store.values.clear()
    for (const each of [one, two]) await each.replica.exchange()
    Object.assign(store, before)
    for (const each of [one, two, one]) await each.replica.exchange()
    for (const { keys } of [one, two])
      expect(await keys.list()).toEqual({ accepted: [], denied: [], pending: [], rejected: ['web2'] })
    expect(
      await master('three').then(async (three) => {
        await three.replica.exchange()
        return three.keys.list('accepted')
      }),
    ).toEqual([])
  })

  test('do not take a value for a later one because the store gives it a later revision', async () => {
    const { one, two } = await bothHave('web1')
    const accepted = store.values.get('key/web1')!
    store.values.set('key/web1', { ...accepted, revision: 1e9 })
    for (const each of [one, two]) await each.replica.exchange()
    await one.keys.reject('web1', { includeAccepted: true })
    await one.replica.exchange()
    store.values.set('key/web1', { ...accepted, revision: 2e9 })
    for (const each of [one, two, one]) await each.replica.exchange()
    expect(await one.keys.state('web1')).toBe('rejected')
    expect(one.log.error.mock.calls.flat().join()).toContain(
      'The store of the cluster north has values that are not used: key/web1.',
    )
  })

  test('report a store that gives out earlier revisions, and compare all its values', async () => {
    const { one, two } = await bothHave('web1')
    store.values.set('key/web1', { ...store.values.get('key/web1')!, revision: 1e9 })
    for (const each of [one, two]) await each.replica.exchange()
    await one.keys.reject('web1', { includeAccepted: true })
    await one.replica.exchange()
    expect(one.log.error.mock.calls.flat().join()).toContain('assigns revisions that it has assigned before')
    await two.data.save('web9', { grains: {} })
    for (const each of [two, two]) await each.replica.exchange()
    expect(await two.keys.state('web1')).toBe('rejected')
  })

  /** Let the second master change what it knows of a minion several times, unseen by the first. Returns the value it stored last. */
  async function longBranch(two: Awaited<ReturnType<typeof master>>, id: string) {
    const before = copyOf()
    for (const other of ['evil1', 'evil2', 'evil3', 'evil4']) {
      await file(two.folder, 'minions_denied', id, await pemOf(other))
      await two.replica.exchange()
    }
    const last = store.values.get(`key/${id}`)!
    Object.assign(store, { values: before.values, last: store.last })
    return last
  }

  test(
    'keep the rejection of a key though another master has changed it more often meanwhile',
    SLOW,
    async () => {
      const { one, two } = await bothHave('web1')
      const longer = await longBranch(two, 'web1')
      await one.keys.reject('web1', { includeAccepted: true })
      await one.replica.exchange()
      putBack(longer)
      for (const each of [one, two, one]) await each.replica.exchange()
      for (const { keys } of [one, two]) expect((await keys.list()).rejected).toEqual(['web1'])
      expect(two.keys.accepted('web1')).toBeUndefined()
      expect(revoked).toEqual(['two'])
    },
  )

  test(
    'keep the deletion of a key though another master has changed it more often meanwhile',
    SLOW,
    async () => {
      const { one, two } = await bothHave('web1')
      const longer = await longBranch(two, 'web1')
      await one.keys.remove('web1')
      await one.replica.exchange()
      putBack(longer)
      for (const each of [one, two, one]) await each.replica.exchange()
      for (const { keys } of [one, two]) expect(await keys.state('web1')).toBeUndefined()
    },
  )

  test('keep the rejection of a key that another master deletes at the same time', SLOW, async () => {
    for (const order of [0, 1]) {
      const id = `web${order}`
      const { one, two } = await bothHave(id)
      await one.keys.reject(id, { includeAccepted: true })
      await two.keys.remove(id)
      for (const each of order ? [one, two, one] : [two, one, two]) await each.replica.exchange()
      for (const { keys } of [one, two]) expect(await keys.state(id)).toBe('rejected')
      for (const close of closing.splice(0).reverse()) await close()
      await rm(root, { recursive: true })
      store = new MemoryStore()
    }
  })

  test.each(['reject', 'remove'] as const)(
    'keep a decision that is made while a value is taken over: %s',
    SLOW,
    async (decision) => {
      const { one, two } = await bothHave('web1')
      await file(two.folder, 'minions_denied', 'web1', await pemOf('evil'))
      await two.replica.exchange()
      const read = KeyFileStore.prototype.read
      const spy = vi.spyOn(KeyFileStore.prototype, 'read').mockImplementation(async function (
        this: KeyFileStore,
        ...asked
      ) {
        const pem = await read.apply(this, asked)
        if (asked[0] === 'denied') {
          spy.mockRestore()
          if (decision === 'reject') await one.keys.reject('web1', { includeAccepted: true })
          else await one.keys.remove('web1')
        }
        return pem
      })
      for (const each of [one, two, one, two]) await each.replica.exchange()
      for (const { keys } of [one, two]) {
        expect((await keys.list()).accepted).toEqual([])
        expect((await keys.list()).rejected).toEqual(decision === 'reject' ? ['web1'] : [])
      }
    },
  )

  test('follow an acceptance that was made after the rejection was known', async () => {
    const { one, two } = await bothHave('web1')
    await one.keys.reject('web1', { includeAccepted: true })
    for (const each of [one, two]) await each.replica.exchange()
    await two.keys.accept('web1', { includeRejected: true })
    for (const each of [two, one]) await each.replica.exchange()
    expect(await one.keys.list('accepted')).toEqual(['web1'])
  })

  test('have separate versions even if the file of one was copied to another', async () => {
    const { one, two } = await bothHave('web1')
    await closeMaster(two)
    await closeMaster(one)
    await copyFile(Replica.path(one.folder), Replica.path(two.folder))
    const [first, copy] = [await master('one'), await master('two')]
    const longer = await longBranch(copy, 'web1')
    await first.keys.reject('web1', { includeAccepted: true })
    await first.replica.exchange()
    putBack(longer)
    for (const each of [first, copy, first]) await each.replica.exchange()
    for (const { keys } of [first, copy]) expect((await keys.list()).rejected).toEqual(['web1'])
  })

  test('store a value again whose revision was damaged', SLOW, async () => {
    for (const revision of [0.5, -5, 2 ** 60, Number.NaN, 17.5]) {
      const { one, two } = await bothHave('web1')
      store.values.set('key/web1', { ...store.values.get('key/web1')!, revision })
      await one.keys.reject('web1', { includeAccepted: true })
      for (const each of [one, two]) await each.replica.exchange()
      expect(await two.keys.state('web1')).toBe('rejected')
      for (const close of closing.splice(0).reverse()) await close()
      await rm(root, { recursive: true })
      store = new MemoryStore()
    }
  })

  test('report a store that gives out unusable revisions', async () => {
    const one = await master('one')
    await file(one.folder, 'minions', 'web1', await pemOf('web1'))
    store.last = 2 ** 53
    await expect(one.replica.exchange()).rejects.toThrow('the store gives out the revision')
  })

  test('report once which values of the store are not used', async () => {
    const { one } = await bothHave('web1')
    for (let n = 0; n < 600; n++) putBack({ key: `key/junk${n}`, value: Buffer.from('junk') })
    await file(one.folder, 'minions', 'web2', await pemOf('web2'))
    for (const each of [one, one]) await each.replica.exchange()
    const two = await master('two')
    await two.replica.exchange()
    expect(await two.keys.list('accepted')).toEqual(['web1', 'web2'])
    const said = two.log.error.mock.calls.flat().filter((text) => String(text).includes('are not used'))
    expect(said).toEqual([
      'The store of the cluster north has values that are not used: key/junk0, key/junk1, key/junk2, key/junk3, key/junk4 and others. They are outdated, or were not written by a master with the key of this one. This master replaces those that it knows.',
    ])
  })

  test('agree again after the store was reset to an earlier state', async () => {
    const { one, two } = await bothHave('web1')
    const before = copyOf()
    await file(one.folder, 'minions', 'web2', await pemOf('web2'))
    await one.keys.reject('web1', { includeAccepted: true })
    for (const each of [one, two]) await each.replica.exchange()
    Object.assign(store, before)
    await two.keys.remove('web1')
    for (const each of [two, one, two, one]) await each.replica.exchange()
    expect(await one.keys.list()).toEqual({ accepted: ['web2'], denied: [], pending: [], rejected: [] })
    expect(await two.keys.list()).toEqual(await one.keys.list())
  })

  test('fill a store that has lost its values and got a new one since', async () => {
    const { one, two } = await bothHave('web1')
    store.values.clear()
    store.last = 0
    await file(two.folder, 'minions_pre', 'web2', await pemOf('web2'))
    for (const each of [two, one, two]) await each.replica.exchange()
    for (const { keys } of [one, two])
      expect(await keys.list()).toEqual({ accepted: ['web1'], denied: [], pending: ['web2'], rejected: [] })
    const three = await master('three')
    await three.replica.exchange()
    expect(await three.keys.list('accepted')).toEqual(['web1'])
  })

  test('delete elsewhere what was deleted here while the cluster was not running', async () => {
    const { one, two } = await bothHave('web1')
    await one.data.save('web1', { grains: { os: 'Debian' } })
    await one.replica.exchange()
    await two.replica.exchange()
    await closeMaster(two)
    await rm(join(two.folder, 'minions', 'web1'))
    const again = await master('two')
    await again.data.remove('web1')
    await again.replica.exchange()
    await one.replica.exchange()
    expect(await one.keys.list('accepted')).toEqual([])
    expect(one.data.grains('web1')).toBeUndefined()
  })

  test('send a value that a worker stores while another one is taken over', async () => {
    const [one, two] = [await master('one'), await master('two')]
    await one.data.save('web1', { grains: { at: 1 } })
    for (const each of [one, two]) await each.replica.exchange()
    await one.data.save('web1', { grains: { at: 2 } })
    await one.replica.exchange()
    const save = two.data.save.bind(two.data)
    two.data.save = async (id, facts) => {
      await save(id, facts)
      two.data.save = save
      await save('web1', { grains: { at: 3 } })
    }
    for (const each of [two, one]) await each.replica.exchange()
    expect(one.data.grains('web1')).toEqual({ at: 3 })
  })

  test('share all starts, in order, including those that only one of them knew', async () => {
    const [one, two] = [await master('one'), await master('two')]
    await one.starts.save('web1', { ...start, token: 'later1' }, 2000)
    await two.starts.save('web1', { ...start, token: 'first1' }, 1000)
    for (const each of [one, two, one]) await each.replica.exchange()
    for (const { starts } of [one, two])
      expect(starts.of('web1').map(({ token }) => token)).toEqual(['first1', 'later1'])
    const { last } = store
    for (const each of [two, one, two]) await each.replica.exchange()
    expect(store.last).toBe(last)
  })

  test('keep an accepted key when another key of that id was filed at another master', async () => {
    const [one, two] = [await master('one'), await master('two')]
    await file(one.folder, 'minions_pre', 'web1', await pemOf('evil'))
    await file(two.folder, 'minions', 'web1', await pemOf('web1'))
    for (const each of [one, two, one]) await each.replica.exchange()
    for (const { keys } of [one, two]) {
      expect(await keys.list()).toEqual({ accepted: ['web1'], denied: ['web1'], pending: [], rejected: [] })
      expect(keys.accepted('web1')?.pem).toBe(await pemOf('web1'))
    }
    expect(revoked).toEqual([])
  })

  test('prefer a later change to one that the store took without an answer', async () => {
    const [one, two] = [await master('one'), await master('two')]
    for (const each of [one, two]) await each.replica.exchange()
    await file(one.folder, 'minions', 'web1', await pemOf('web1'))
    const put = store.putShared.bind(store)
    store.putShared = async (...asked) => {
      await put(...asked)
      throw new Error('no answer')
    }
    await expect(one.replica.exchange()).rejects.toThrow('no answer')
    store.putShared = put
    await one.keys.remove('web1')
    for (const each of [one, two]) await each.replica.exchange()
    expect(await one.keys.list('accepted')).toEqual([])
    expect(await two.keys.list('accepted')).toEqual([])
  })

  test('start again from the store when the file of one was removed', async () => {
    const one = await master('one')
    await file(one.folder, 'minions', 'web1', await pemOf('web1'))
    await one.replica.exchange()
    const two = await master('two')
    await two.replica.exchange()
    await two.keys.remove('web1')
    await two.replica.exchange()
    await closeMaster(one)
    await rm(Replica.path(one.folder), { force: true })
    const again = await master('one')
    await again.replica.exchange()
    expect(await again.keys.list('accepted')).toEqual([])
  })
})
