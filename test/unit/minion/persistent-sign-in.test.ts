import { afterEach, expect, test, vi } from 'vitest'
import type { Log } from '../../../core/author/context.ts'
import { SaltError } from '../../../core/base/errors.ts'
import { loadMinionConfig } from '../../../core/config/index.ts'
import {
  type PersistentSignInSettings,
  signInUntilAccepted,
} from '../../../core/minion/persistent-sign-in.ts'
import { keyPair } from '../../harness/key-pairs.ts'

/** A master that never answers, and how often it was asked. */
async function asking(options: Record<string, unknown>, once: boolean) {
  const overrides = { id: 'web1', auth_timeout: 1, auth_tries: 3, random_reauth_delay: 0, ...options }
  const { config } = loadMinionConfig({ configDir: '/nonexistent', overrides })
  const closing = new AbortController()
  const request = vi.fn(async () => {
    throw new SaltError('TIMEOUT', 'no answer')
  })
  const log = Object.fromEntries(['trace', 'debug', 'info', 'warn', 'error'].map((level) => [level, vi.fn()]))
  const settings: PersistentSignInSettings = {
    config,
    id: 'web1',
    key: await keyPair('wire1'),
    known: { read: async () => undefined, write: async () => {} },
    signingKey: undefined,
    client: { request, close: async () => {} },
    address: 'master:4506',
    algorithms: { encryption: 'OAEP-SHA1', signing: 'PKCS1v15-SHA1' },
    token: 'token',
    once,
    grains: () => ({}),
    log: log as unknown as Log,
    closing: closing.signal,
  }
  return { settings, request, closing }
}

const unreachable = expect.objectContaining({ code: 'MASTER_UNREACHABLE' })
afterEach(() => vi.restoreAllMocks())

test('salt-call gives up after auth_tries sign-ins', async () => {
  const { settings, request } = await asking({}, true)
  await expect(signInUntilAccepted(settings)).rejects.toEqual(unreachable)
  expect(request).toHaveBeenCalledTimes(3)
})

test('a daemon gives up after master_tries rounds of auth_tries sign-ins', async () => {
  const { settings, request } = await asking({ master_tries: 2 }, false)
  await expect(signInUntilAccepted(settings)).rejects.toEqual(unreachable)
  expect(request).toHaveBeenCalledTimes(6)
})

test('by default, and with auth_safemode, it never gives up until it is closed', async () => {
  for (const options of [{}, { master_tries: 1, auth_safemode: true }]) {
    const { settings, request, closing } = await asking(options, false)
    const signingIn = signInUntilAccepted(settings)
    await vi.waitFor(() => expect(request.mock.calls.length).toBeGreaterThan(20))
    closing.abort()
    await expect(signingIn).rejects.not.toEqual(unreachable)
  }
})
