import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { SaltError } from '../../../../core/base/errors.ts'
import { fingerprint } from '../../../../core/base/fingerprint.ts'
import { loadMinionConfig } from '../../../../core/config/index.ts'
import {
  type PersistentSignInSettings,
  signInUntilAccepted,
} from '../../../../core/minion/link/persistent-sign-in.ts'
import { checkPeerName } from '../../../../core/transport/peer-name.ts'
import { InProcessMaster } from '../../../harness/in-process-master.ts'
import { keyPair } from '../../../harness/key-pairs.ts'
import { spyLog } from '../../../harness/log.ts'
import { SLOW } from '../../../harness/slow.ts'
import { eventually } from '../../../harness/until.ts'

/** A master that never answers, and how often it was asked. */
async function asking(options: Record<string, unknown>, once: boolean) {
  const overrides = { id: 'web1', auth_timeout: 1, auth_tries: 3, random_reauth_delay: 0, ...options }
  const { config } = loadMinionConfig({ configDir: '/nonexistent', overrides })
  const closing = new AbortController()
  const request = vi.fn(async () => {
    throw new SaltError('TIMEOUT', 'no answer')
  })
  const log = spyLog()
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
    log,
    closing: closing.signal,
  }
  return { settings, request, closing, log }
}

async function truncatedFile(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, '')
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
    await eventually(() => expect(request.mock.calls.length).toBeGreaterThan(20))
    closing.abort()
    await expect(signingIn).rejects.not.toEqual(unreachable)
  }
})

describe('where the name of the master does not resolve', () => {
  const unresolved = async (options: Record<string, unknown>) => {
    const asked = await asking(options, false)
    asked.request.mockImplementation(async () => checkPeerName({ host: 'nosuch.invalid' }) as never)
    return asked
  }

  test('a minion with retry_dns: 0 gives up and says why', async () => {
    const { settings, request } = await unresolved({ retry_dns: 0 })
    await expect(signInUntilAccepted(settings)).rejects.toThrow('nosuch.invalid cannot be resolved')
    expect(request).toHaveBeenCalledTimes(1)
  })

  test(
    'it tries again every retry_dns seconds, retry_dns_count times, whatever master_tries is',
    SLOW,
    async () => {
      const { settings, request } = await unresolved({ retry_dns: 0.1, retry_dns_count: 4, master_tries: 1 })
      const started = performance.now()
      await expect(signInUntilAccepted(settings)).rejects.toThrow('cannot be resolved')
      expect(performance.now() - started).toBeGreaterThan(290)
      expect(request).toHaveBeenCalledTimes(4)
    },
  )

  test('it signs in as soon as the name resolves', SLOW, async () => {
    const { settings, request, closing } = await unresolved({ retry_dns: 0.05 })
    const signingIn = signInUntilAccepted(settings)
    await eventually(() => expect(request.mock.calls.length).toBeGreaterThan(2))
    request.mockImplementation(async () => {
      closing.abort()
      throw new SaltError('TIMEOUT', 'asked')
    })
    await expect(signingIn).rejects.toThrow('asked')
  })
})

test('between two rounds it waits for a random time of up to random_reauth_delay seconds', SLOW, async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0.5)
  const { settings, request } = await asking(
    { master_tries: 2, auth_tries: 1, random_reauth_delay: 0.6 },
    false,
  )
  const started = performance.now()
  await expect(signInUntilAccepted(settings)).rejects.toEqual(unreachable)
  expect(performance.now() - started).toBeGreaterThan(290)
  expect(request).toHaveBeenCalledTimes(2)
})

describe('a master that answers', () => {
  let master: InProcessMaster
  afterEach(() => master.close())

  /** Sign in to it until `decide`, which is called with every sign-in, has it accept the key. */
  async function signingIn(options: Record<string, unknown>, decide: (count: number) => unknown) {
    master = await InProcessMaster.open()
    const { settings, log } = await asking(options, false)
    let count = 0
    const request = async (frame: Uint8Array) => {
      await decide(++count)
      return master.answer(frame)
    }
    const done = signInUntilAccepted({ ...settings, id: 'wire1', client: { request, close: async () => {} } })
    const said = () => log.warn.mock.calls.map(([line]) => String(line))
    const complained = () => log.error.mock.calls.map(([line]) => String(line))
    return { done, said, complained }
  }

  test(
    'and whose file of the key is damaged is asked again, and says in its log which file that is',
    SLOW,
    async () => {
      const { publicKey } = await keyPair('wire1')
      const path = () => join(master.config.pki_dir, 'minions', 'wire1')
      const { done, complained } = await signingIn({ acceptance_wait_time: 0.01 }, async (count) => {
        await (count > 1 ? master.file('wire1', publicKey) : truncatedFile(path()))
      })
      expect(await done).toMatchObject({ generation: 3 })
      expect(complained()).toEqual([
        'The master master:4506 cannot read the key that it has filed for this minion. Its log names the file. Asking again in 0.01 seconds.',
      ])
      expect(master.logged.join('\n')).toMatch(
        /^error Authentication request from "wire1": damaged, because .*minions\/wire1 is empty\. Restore it/m,
      )
      expect(master.events.filter(({ tag }) => tag.startsWith('salt/auth'))[0]?.data).toMatchObject({
        result: false,
      })
    },
  )

  test.each([
    [
      'doubles up to acceptance_wait_time_max',
      { acceptance_wait_time_max: 0.05 },
      [0.01, 0.02, 0.04, 0.05, 0.05],
    ],
    ['is always the same without acceptance_wait_time_max', {}, [0.01, 0.01, 0.01, 0.01, 0.01]],
  ])('and has not accepted the key is asked again; the wait %s', SLOW, async (_, options, waits) => {
    const { publicKey } = await keyPair('wire1')
    const { done, said } = await signingIn({ acceptance_wait_time: 0.01, ...options }, async (count) => {
      if (count > waits.length) await master.file('wire1', publicKey)
    })
    expect(await done).toMatchObject({ generation: 3 })
    const finger = fingerprint(publicKey.pem, 'sha256')
    expect(said()).toEqual(
      waits.map(
        (wait) =>
          `The master master:4506 has received this minion's key, but it is not accepted yet (salt-key -a wire1). Its fingerprint is ${finger}. Compare it with the output of salt-key -f wire1 on the master. Asking again in ${wait} ${wait === 1 ? 'second' : 'seconds'}.`,
      ),
    )
  })

  test('and has a new key is accepted only if the key is signed by the signing key', async () => {
    master = await InProcessMaster.open({ options: { master_sign_pubkey: true, auto_accept: true } })
    const write = vi.fn(async () => {})
    const known = { read: async () => (await keyPair('wire2')).publicKey, write } // of the master before
    const request = (frame: Uint8Array) => master.answer(frame)
    for (const [owner, option] of [
      ['master_sign', {}],
      ['wire2', {}],
      ['master_sign', { master_finger: 'aa:bb' }],
    ] as const) {
      const { settings } = await asking(option, true)
      const signingKey = (await keyPair(owner)).publicKey
      const client = { request, close: async () => {} }
      const done = signInUntilAccepted({ ...settings, id: 'wire1', known, signingKey, client })
      if (owner === 'master_sign' && !('master_finger' in option)) {
        expect(await done).toMatchObject({ generation: 3 })
        expect(write).toHaveBeenCalledTimes(1)
      } else await expect(done).rejects.toThrow(/signature of its public key is wrong|master_finger demands/)
    }
    expect(write).toHaveBeenCalledTimes(1)
  })
})
