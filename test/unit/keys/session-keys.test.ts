import { execFileSync } from 'node:child_process'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { PublicKey } from '../../../core/crypto/index.ts'
import { KeyStore, SessionKeys } from '../../../core/keys/index.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { SLOW } from '../../harness/slow.ts'
import { randomPem } from './pems.ts'
import { policy } from './policies.ts'

const accepting = policy({ autoSign: async () => 'auto_accept' })

let directory: string
let keys: KeyStore
let now: number
let sessions: SessionKeys
const open: SessionKeys[] = []

function openSessions(lifetimeSeconds = 86_400): SessionKeys {
  const opened = SessionKeys.open(directory, {
    keys: new KeyStore(directory),
    lifetimeSeconds,
    clock: { now: () => now },
  })
  open.push(opened)
  return opened
}

async function accept(id: string): Promise<PublicKey> {
  const pem = randomPem()
  await keys.offer(id, pem, accepting)
  return PublicKey.parse(pem)
}

beforeEach(async () => {
  directory = await temporaryFolder('salt-sessions-')
  keys = new KeyStore(directory)
  now = Date.UTC(2024, 1, 29)
  sessions = openSessions()
})
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()))
  await removeFolder(directory)
})

describe('a session key', () => {
  test('is made at sign-in, and stays the same for the next one and after a restart', async () => {
    const key = await accept('web1')
    expect(await sessions.current('web1')).toBeUndefined()
    const session = await sessions.forAcceptedKey('web1', key)
    expect((await sessions.forAcceptedKey('web1', key)).text).toBe(session.text)
    expect((await sessions.current('web1'))?.key.text).toBe(session.text)
    expect((await openSessions().current('web1'))?.key.text).toBe(session.text)
  })

  test(
    'is found by a worker at once, even if it has looked for the key in the same turn of its event loop',
    SLOW,
    async () => {
      await accept('web1')
      expect(await sessions.current('web1')).toBeUndefined()
      const source = (path: string) => JSON.stringify(new URL(`../../../core/${path}`, import.meta.url).href)
      const script = `
      import { KeyStore, SessionKeys } from ${source('keys/index.ts')}
      const keys = new KeyStore(${JSON.stringify(directory)})
      const sessions = SessionKeys.open(${JSON.stringify(directory)}, { keys, lifetimeSeconds: 0 })
      await sessions.forAcceptedKey('web1', keys.accepted('web1'))
      await sessions.close()`
      execFileSync(process.execPath, [
        '--conditions',
        'source',
        '--import',
        'tsx',
        '--input-type=module',
        '-e',
        script,
      ])
      expect(await sessions.current('web1')).toBeDefined()
    },
  )

  test('is the same for all workers, whichever makes it', async () => {
    const key = await accept('web1')
    const workers = [sessions, openSessions(), openSessions()]
    const made = await Promise.all(workers.map((worker) => worker.forAcceptedKey('web1', key)))
    expect(new Set(made.map(({ text }) => text)).size).toBe(1)
    const read = await Promise.all(workers.map((worker) => worker.current('web1')))
    expect(new Set(read.map((session) => session?.key.text))).toEqual(new Set(made.map(({ text }) => text)))
  })

  test('ends when the minion key is deleted or rejected', async () => {
    for (const end of [() => keys.remove('web1'), () => keys.reject('web1', { includeAccepted: true })]) {
      await sessions.forAcceptedKey('web1', await accept('web1'))
      await sessions.used('web1')
      expect(await sessions.current('web1')).toBeDefined()
      expect(await sessions.wasUsed('web1')).toBe(true)
      await end()
      expect(await sessions.current('web1')).toBeUndefined()
      expect(await sessions.wasUsed('web1')).toBe(false)
    }
  })

  test('is not used for another key that is accepted for the id', async () => {
    const old = await sessions.forAcceptedKey('web1', await accept('web1'))
    await keys.remove('web1')
    const key = await accept('web1')
    expect(await sessions.current('web1')).toBeUndefined()
    expect((await sessions.forAcceptedKey('web1', key)).text).not.toBe(old.text)
  })

  test('ends after publish_session, and the next sign-in makes a new one', async () => {
    const key = await accept('web1')
    const old = await sessions.forAcceptedKey('web1', key)
    now += 86_400_000
    expect(await sessions.current('web1')).toBeUndefined()
    expect((await sessions.forAcceptedKey('web1', key)).text).not.toBe(old.text)
  })

  test('that was used stays marked as used after the next one is made and after a restart', async () => {
    const key = await accept('web1')
    await sessions.forAcceptedKey('web1', key)
    expect(await sessions.wasUsed('web1')).toBe(false)
    await sessions.used('web1')
    now += 86_400_000
    expect(await sessions.wasUsed('web1')).toBe(true)
    await sessions.forAcceptedKey('web1', key)
    expect(await openSessions().wasUsed('web1')).toBe(true)
    await keys.remove('web1')
    await sessions.forAcceptedKey('web1', await accept('web1'))
    expect(await sessions.wasUsed('web1')).toBe(false)
  })

  test('never expires with a life time of 0', async () => {
    const lasting = openSessions(0)
    const session = await lasting.forAcceptedKey('web1', await accept('web1'))
    now += 86_400_000_000
    expect((await lasting.current('web1'))?.key.text).toBe(session.text)
  })
})

describe('without an accepted key', () => {
  test.each(['nobody', '../x', '', 'a\0b', 'x'.repeat(3000)])(
    'the id %j has no session, and none is made',
    async (id) => {
      expect(await sessions.current(id)).toBeUndefined()
      await expect(sessions.forAcceptedKey(id, PublicKey.parse(randomPem()))).rejects.toMatchObject({
        code: 'KEY_REJECTED',
      })
      expect(await sessions.prune()).toBe(0)
    },
  )

  test('a pending or another key gets none', async () => {
    const pem = randomPem()
    await keys.offer('web1', pem, policy())
    await expect(sessions.forAcceptedKey('web1', PublicKey.parse(pem))).rejects.toThrow('no longer accepted')
  })
})

test('sessions of deleted keys are removed by pruning', async () => {
  for (const id of ['web1', 'web2']) await sessions.forAcceptedKey(id, await accept(id))
  await keys.remove('web1')
  expect(await sessions.prune()).toBe(1)
  expect(await sessions.prune()).toBe(0)
  expect(await sessions.current('web2')).toBeDefined()
})
