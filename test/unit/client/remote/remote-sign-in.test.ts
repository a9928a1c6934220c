/** How an API on another host signs in to its master, and verifies that it is its master. */
import { createPrivateKey, sign } from 'node:crypto'
import { chmod, mkdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { RemoteMaster } from '../../../../core/client/remote/remote-master.ts'
import { RemoteSignIn } from '../../../../core/client/remote/remote-sign-in.ts'
import { decode, encodeNetwork } from '../../../../core/codec/index.ts'
import { fingerprint, type PrivateKey } from '../../../../core/crypto/index.ts'
import { knownMasterKey } from '../../../../core/keys/minion-keys.ts'
import { fakeLog } from '../../../../core/testing/recording-log.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { InProcessMaster } from '../../../harness/in-process-master.ts'
import { keyPair } from '../../../harness/key-pairs.ts'
import { SLOW } from '../../../harness/slow.ts'

let master: InProcessMaster
let folder: string
let pkiDir: string
/** Sign-ins that reached the master. */
let asked: number
/** What comes of its replies on their way. */
let altered: (reply: Uint8Array) => Uint8Array
let { log, lines } = fakeLog()

beforeEach(async () => {
  master = await InProcessMaster.open({ options: { api_clients: ['api-*'] } })
  folder = await temporaryFolder('salt-remote-sign-in-')
  pkiDir = join(folder, 'pki')
  asked = 0
  altered = (reply) => reply
  ;({ log, lines } = fakeLog())
})
afterEach(async () => {
  await master.close()
  await removeFolder(folder)
})

function open(changes: Partial<RemoteMaster> = {}): Promise<RemoteSignIn> {
  const request = async (frame: Uint8Array) => {
    asked++
    return altered(await master.answer(frame))
  }
  const settings = {
    host: 'far',
    port: 4506,
    eventPort: 4510,
    ipv6: false,
    id: 'api-1',
    pkiDir,
    keySize: 2048,
  }
  const remote = { ...settings, permissive: false, hash: 'sha256', finger: '', ...changes }
  return RemoteSignIn.open(remote, { request, close: async () => {} }, log)
}

async function accepted(changes: Partial<RemoteMaster> = {}): Promise<RemoteSignIn> {
  const signIn = await open(changes)
  await master.file('api-1', signIn.key.publicKey)
  return signIn
}

const known = () => knownMasterKey(join(pkiDir, 'api_master.pub'))
const fingerOf = (key: PrivateKey) => fingerprint(key.publicKey.pem, 'sha256')
const signal = AbortSignal.timeout(60_000)

/** Its reply, with another inner map. */
const inner = (change: (inner: Record<string, unknown>) => object) => (frame: Uint8Array) => {
  const reply = decode(frame) as Record<string, unknown>
  const load = decode(reply.load as Uint8Array) as Record<string, unknown>
  return encodeNetwork({ ...reply, load: encodeNetwork(change(load)) })
}

describe('a host whose key is not accepted', () => {
  test.each([
    ['pending', 'it is not accepted yet'],
    ['rejected', 'has rejected or denied the key'],
  ] as const)('gets an error with the fingerprint to compare: %s', SLOW, async (state, sentence) => {
    const signIn = await open()
    await master.file('api-1', signIn.key.publicKey, state)
    const error = await signIn.credentials().catch((error: unknown) => error)
    expect(error).toMatchObject({ code: 'AUTHENTICATION_FAILED' })
    expect(`${error}`).toContain(sentence)
    expect(`${error}`).toContain(fingerOf(signIn.key))
    expect(await known().read()).toBeUndefined()
  })
})

test('a host whose key is damaged on the master gets a sentence that says so', SLOW, async () => {
  const signIn = await open()
  await mkdir(join(master.config.pki_dir, 'minions', 'api-1'), { recursive: true })
  await expect(signIn.credentials()).rejects.toThrow(
    'cannot read the key that it has filed for this host (api-1)',
  )
})

describe('the master', () => {
  test('is trusted at first contact, with a warning, and known from then on', SLOW, async () => {
    const signIn = await accepted()
    expect(await signIn.credentials()).toMatchObject({ generation: 3 })
    expect(lines.map(({ message }) => message)).toEqual([expect.stringContaining('master_finger is not set')])
    expect((await known().read())?.equals((await keyPair('master')).publicKey)).toBe(true)
  })

  test('with another key than the stored one is refused at once and not tried again', SLOW, async () => {
    const signIn = await accepted()
    const other = (await keyPair('other1')).publicKey
    await known().write(other)
    await expect(signIn.untilAccepted(signal)).rejects.toMatchObject({
      code: 'MASTER_KEY_CHANGED',
      message: expect.stringMatching(/The master is far\. .* remove .*api_master\.pub and start again/),
    })
    expect((await known().read())?.equals(other)).toBe(true)
    expect(asked).toBe(1)
  })

  test('must have the key that master_finger demands', SLOW, async () => {
    const wrong = await accepted({ finger: fingerOf(await keyPair('other1')) })
    await expect(wrong.untilAccepted(signal)).rejects.toMatchObject({ code: 'FINGERPRINT_WRONG' })
    expect(await known().read()).toBeUndefined()
    const right = await open({ finger: fingerOf(await keyPair('master')) })
    expect(await right.credentials()).toMatchObject({ generation: 3 })
    expect(lines).toEqual([])
  })

  test('must be able to read the token of the sign-in, once its key is known', SLOW, async () => {
    const signIn = await accepted()
    const first = await signIn.credentials()
    altered = inner(({ token: _, ...others }) => others)
    await expect(signIn.renew(first)).rejects.toMatchObject({ code: 'MASTER_KEY_CHANGED' })
  })

  test('is refused in generation 2', SLOW, async () => {
    const signIn = await accepted()
    const { pem } = await keyPair('master')
    const key = createPrivateKey(pem)
    altered = (frame) => {
      const bare = inner(({ session: _, ...others }) => others)(frame)
      const reply = decode(bare) as Record<string, unknown>
      return encodeNetwork({ ...reply, sig: sign('sha1', reply.load as Uint8Array, key) })
    }
    await expect(signIn.credentials()).rejects.toThrow('protocol generation 2')
  })

  test('with changed replies is refused', SLOW, async () => {
    const signIn = await accepted()
    altered = inner((load) => ({ ...load, publish_port: 1 }))
    await expect(signIn.credentials()).rejects.toMatchObject({ code: 'MASTER_KEY_CHANGED' })
  })
})

test('several requests with stale credentials cause one sign-in', SLOW, async () => {
  const signIn = await accepted()
  const stale = await signIn.credentials()
  const renewed = await Promise.all(Array.from({ length: 5 }, () => signIn.renew(stale)))
  expect(asked).toBe(2)
  expect(new Set(renewed).size).toBe(1)
  expect(renewed[0]).not.toBe(stale)
})

test('its own private key has mode 0400, in a folder that other users may not write', SLOW, async () => {
  await open()
  expect((await stat(join(pkiDir, 'api.pem'))).mode & 0o777).toBe(0o400)
  await chmod(pkiDir, 0o777)
  await expect(open()).rejects.toMatchObject({ code: 'PERMISSIONS' })
})
