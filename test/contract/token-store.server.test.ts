import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { TokenStore } from '../../core/auth/tokens/contract.ts'
import { openEmbeddedTokens } from '../../core/auth/tokens/embedded.ts'
import { readRecord } from '../../core/auth/tokens/record.ts'
import { openRedisTokens } from '../../core/auth/tokens/redis.ts'
import { Tokens } from '../../core/auth/tokens/tokens.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { needs, program } from '../harness/needs.ts'
import type { TestServer } from '../harness/server.ts'
import { startRedis } from '../harness/store-servers.ts'
import { eventually } from '../harness/until.ts'
import { conformance, tokenRecord } from './token-store.ts'

const REDIS = program('redis-server')

let folder: string
let redis: TestServer
beforeAll(async () => {
  folder = await temporaryFolder('salt-tokens-')
  if (REDIS.isMet) redis = await startRedis('--requirepass', 'c4n4ry')
})
afterAll(async () => {
  await redis?.drop()
  await removeFolder(folder)
})

const openRedis = (password = 'c4n4ry') =>
  openRedisTokens({ host: '127.0.0.1', port: redis.port, db: 0, password, tls: false, cluster: false })

conformance('LMDB', () => openEmbeddedTokens(join(folder, 'tokens')))
conformance('Redis', () => openRedis(), REDIS)

test('the folder of tokens is accessible to the user of the master only', async () => {
  await (await openEmbeddedTokens(join(folder, 'own'))).close()
  expect((await stat(join(folder, 'own'))).mode & 0o077).toBe(0)
})

test(
  'while Redis is down no tokens are deleted, the outage is logged, and the tokens are there afterwards',
  needs(REDIS),
  async () => {
    const store = await openRedis()
    const tokens = new Tokens({
      clock: { now: () => Date.now() },
      open: async () => store,
      isCurrent: () => true,
    })
    const { token } = await tokens.make(tokenRecord(), 60)
    await redis.pause()
    await expect(tokens.find(token)).rejects.toThrow(
      /^Tokens cannot be looked up at the moment: Redis at 127\.0\.0\.1/,
    )
    redis.resume()
    await eventually(async () => expect(await tokens.find(token)).toMatchObject({ name: 'fred' }))
    await tokens.close()
  },
)

test('a Redis that refuses the password is reported without the password', needs(REDIS), async () => {
  const store = await openRedis('wr0ng')
  const failure = await store.get('x').catch((error: Error) => error.message)
  expect(failure).toContain('Redis at 127.0.0.1')
  expect(failure).not.toContain('wr0ng')
  await store.close()
})

const tokensIn = (open: () => Promise<TokenStore>) =>
  new Tokens({ clock: { now: () => Date.now() }, open, isCurrent: () => true })

test('no store is asked for a text that cannot be a token', async () => {
  const open = vi.fn(() => openEmbeddedTokens(join(folder, 'tokens')))
  const tokens = tokensIn(open)
  for (const text of [
    '',
    '0'.repeat(63),
    '0'.repeat(65),
    'A'.repeat(64),
    `${'0'.repeat(64)}\n`,
    '../tokens.mdb',
  ])
    expect([text, await tokens.find(text), await tokens.revoke(text)]).toEqual([text, undefined, false])
  expect(open).not.toHaveBeenCalled()
})

test('a store that could not be opened is tried again', async () => {
  const open = vi.fn(() => openEmbeddedTokens(join(folder, 'tokens')))
  open.mockRejectedValueOnce(new Error('not now'))
  const tokens = tokensIn(open)
  await expect(tokens.make(tokenRecord(), 60)).rejects.toThrow('not now')
  const { token } = await tokens.make(tokenRecord(), 60)
  expect(await tokens.find(token)).toMatchObject({ name: 'fred' })
  await tokens.close()
})

test('an invalid record is not read as a token', () => {
  const record = tokenRecord()
  expect(readRecord({ ...record, groups: ['ops', 5, null] })).toEqual(record)
  for (const wrong of [{ name: 5 }, { eauth: null }, { groups: 'ops' }, { start: 'x' }, { expire: 'soon' }])
    expect([wrong, readRecord({ ...record, ...wrong })]).toEqual([wrong, undefined])
})

test('an invalid record in Redis is not read as a token', needs(REDIS), async () => {
  const store = await openRedis()
  await store.put('odd', { ...tokenRecord(), name: 5 as unknown as string })
  expect(await store.get('odd')).toBeUndefined()
  await store.close()
})
