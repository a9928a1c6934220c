import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  type SignInKeys,
  type SignInOutcome,
  type SignInSettings,
  signIn,
} from '../../../core/channel/sign-in-client.ts'
import { decode, encodeNetwork } from '../../../core/codec/index.ts'
import { fingerprint, PrivateKey, type PublicKey } from '../../../core/crypto/index.ts'
import { packClear } from '../../../core/wire/envelope.ts'
import { makeSignIn } from '../../../core/wire/sign-in.ts'
import { InProcessMaster, type MasterSetup } from '../../harness/in-process-master.ts'
import { keyPair } from '../../harness/key-pairs.ts'
import { SLOW } from '../../harness/slow.ts'

let master: InProcessMaster
/** `minion_master.pub`, so to speak. */
let known: PublicKey | undefined

const open = async (options: MasterSetup['options'] = { auto_accept: true }) => {
  await master?.close()
  master = await InProcessMaster.open({ options })
}
beforeEach(async () => {
  known = undefined
  await open()
})
afterEach(() => master.close())

type Wire = (frame: Uint8Array) => Promise<Uint8Array>
const honest: Wire = (frame) => master.answer(frame)

async function attempt(changes: Partial<SignInSettings> = {}, wire = honest): Promise<SignInOutcome> {
  return signIn({
    client: { request: wire, close: async () => {} },
    timeoutMs: 1000,
    id: 'wire1',
    key: await keyPair('wire1'),
    known: {
      read: async () => known,
      write: async (key) => {
        known = key
      },
    },
    algorithms: { encryption: 'OAEP-SHA1', signing: 'PKCS1v15-SHA1' },
    minimumVersion: 3,
    token: 'a token',
    ...changes,
  })
}

async function credentials(changes: Partial<SignInSettings> = {}, wire = honest): Promise<SignInKeys> {
  const outcome = await attempt(changes, wire)
  if (outcome.state === 'accepted') return outcome.credentials
  throw new Error(`It is ${outcome.state}`)
}

/** What the master says, with another inner map; signed as it was. */
const altered =
  (change: (inner: Record<string, unknown>) => Record<string, unknown>): Wire =>
  async (frame) => {
    const reply = decode(await master.answer(frame)) as Record<string, unknown>
    const inner = decode(reply.load as Uint8Array) as Record<string, unknown>
    return encodeNetwork({ ...reply, load: encodeNetwork(change(inner)) })
  }

/** A reply to another request. */
const replayed =
  (reply: Uint8Array): Wire =>
  async () =>
    reply

const someSignIn = async () =>
  makeSignIn({
    id: 'wire1',
    nonce: 'another',
    pub: (await keyPair('wire1')).publicKey.pem,
    algorithms: { encryption: 'OAEP-SHA1', signing: 'PKCS1v15-SHA1' },
  })

describe('the result of a sign-in is', () => {
  test('accepted: with the keys of the master, whose public key is stored', SLOW, async () => {
    const { generation, aes, request, publishPort } = await credentials()
    expect(generation).toBe(3)
    expect(aes.digest()).toBe(master.aesKeys.current.digest())
    expect(request.digest()).not.toBe(aes.digest())
    expect(publishPort).toBe(4505)
    expect(known?.equals((await keyPair('master')).publicKey)).toBe(true)
    await credentials() // now with a token, which the master has to read
  })

  test(
    'pending until the key is accepted; the public key of the master is not stored before',
    SLOW,
    async () => {
      await open({})
      expect(await attempt()).toEqual({ state: 'pending' })
      expect(known).toBeUndefined()
      await master.file('wire1', (await keyPair('wire1')).publicKey)
      expect(await attempt()).toMatchObject({ state: 'accepted' })
    },
  )

  test('rejected', SLOW, async () => {
    await open({})
    await master.file('wire1', (await keyPair('wire1')).publicKey, 'rejected')
    expect(await attempt()).toEqual({ state: 'rejected' })
  })

  test('full, if the master has max_minions', SLOW, async () => {
    await open({ auto_accept: true, max_minions: 1 })
    await master.file('other', (await keyPair('wire2')).publicKey)
    await master.setConnected(['other'])
    expect(await attempt()).toEqual({ state: 'full' })
  })
})

describe('the identity of the master', () => {
  test(
    'a master with another key than the stored one is refused, and the stored key is kept',
    SLOW,
    async () => {
      const before = (await PrivateKey.generate(2048)).publicKey
      known = before
      await expect(attempt()).rejects.toMatchObject({ code: 'MASTER_KEY_CHANGED' })
      expect(known).toBe(before)
    },
  )

  test('master_finger must fit', async () => {
    const expected = fingerprint((await keyPair('master')).publicKey.pem, 'sha256')
    expect(
      await attempt({ fingerprint: { expected: expected.toUpperCase(), hash: 'sha256' } }),
    ).toMatchObject({
      state: 'accepted',
    })
    known = undefined
    const wrong = { expected: expected.replace(/^../, 'zz'), hash: 'sha256' }
    await expect(attempt({ fingerprint: wrong })).rejects.toMatchObject({
      code: 'FINGERPRINT_WRONG',
      message: expect.stringContaining(expected),
    })
    expect(known).toBeUndefined()
  })

  test(
    'an unsigned answer with another key does not end a minion for a wrong master_finger if the master is known',
    SLOW,
    async () => {
      known = (await PrivateKey.generate(2048)).publicKey
      const expected = fingerprint(known.pem, 'sha256')
      await expect(attempt({ fingerprint: { expected, hash: 'sha256' } })).rejects.toMatchObject({
        code: 'MASTER_KEY_CHANGED',
      })
    },
  )

  test(
    'an answer with an invalid signature, or for another request, does not end a minion for its fingerprint',
    SLOW,
    async () => {
      const expected = fingerprint((await keyPair('wire2')).publicKey.pem, 'sha256')
      const join = { prove: () => ({ invite: 'x', proof: 'y' }), refusal: () => 'this is not the master' }
      const other = (await keyPair('wire3')).publicKey.pem
      const strangers = [
        altered((inner) => ({ ...inner, pub_key: other })),
        replayed(await master.answer(packClear(await someSignIn(), 3))),
      ]
      for (const wire of strangers)
        for (const demand of [{ fingerprint: { expected, hash: 'sha256' } }, { join }])
          await expect(attempt(demand, wire)).rejects.toMatchObject({ code: 'MASTER_KEY_CHANGED' })
    },
  )

  test('a key that is signed by the signing key replaces the stored one', SLOW, async () => {
    await open({ auto_accept: true, master_sign_pubkey: true })
    known = (await keyPair('wire2')).publicKey
    await credentials({ signingKey: (await keyPair('master_sign')).publicKey })
    expect(known?.equals((await keyPair('master')).publicKey)).toBe(true)
  })

  test('a signature by an unknown signing key is refused', SLOW, async () => {
    await open({ auto_accept: true, master_sign_pubkey: true })
    await expect(attempt({ signingKey: (await keyPair('wire2')).publicKey })).rejects.toThrow(
      'the signature of its public key is wrong',
    )
  })

  test('both must agree on whether the master signs its key', SLOW, async () => {
    await expect(attempt({ signingKey: (await keyPair('master_sign')).publicKey })).rejects.toThrow(
      'verify_master_pubkey_sign is set, and the master does not sign its key',
    )
    await open({ auto_accept: true, master_sign_pubkey: true })
    await expect(attempt()).rejects.toThrow('verify_master_pubkey_sign is not set here')
  })
})

describe('forged or changed replies', () => {
  test('no reply with a changed byte is accepted, and no key of one is stored', SLOW, async () => {
    const reply = Buffer.from(await master.answer(await frameOf()))
    const wire = (at: number): Wire => {
      const changed = Buffer.from(reply)
      changed[at] = (changed[at] as number) ^ 0x01
      return async () => changed
    }
    for (let at = 0; at < reply.length; at += 7) {
      await expect(attempt({}, wire(at))).rejects.toBeInstanceOf(Error)
      expect(known).toBeUndefined()
    }
  })

  test('a reply to another request is refused', SLOW, async () => {
    const reply = await master.answer(await frameOf())
    await expect(attempt({}, async () => reply)).rejects.toThrow('its reply belongs to another request')
  })

  test('an acceptance by a peer without the key of the known master is refused', async () => {
    await credentials()
    const forge = altered((inner) => ({ ...inner, ret: true }))
    await expect(attempt({}, forge)).rejects.toThrow('the signature of its sign-in reply does not fit')
  })

  test.each([
    ['bad load', 'minimum_auth_version'],
    ['bad enc algo', 'Set encryption_algorithm and signing_algorithm'],
    ['Some exception handling minion payload', 'Its log says why'],
    ['something else', 'something else'],
  ])('the refusal %j is reported with what to do', async (text, hint) => {
    for (const reply of [text, { enc: 'clear', load: { ret: text } }]) {
      await expect(attempt({}, async () => encodeNetwork(reply))).rejects.toMatchObject({
        code: 'DECODE_FAILED',
        message: expect.stringContaining(hint),
      })
    }
  })

  test('a reply that is no MessagePack is an error', async () => {
    await expect(attempt({}, async () => Buffer.from([0xc1]))).rejects.toBeInstanceOf(Error)
  })
})

describe('a master of generation 2', () => {
  const asked2: Wire = (frame) => {
    const request = decode(frame) as Record<string, unknown>
    return master.answer(encodeNetwork({ ...request, version: 2 }))
  }

  test('is refused with the option to set, and served if that is set', SLOW, async () => {
    await open({ auto_accept: true, minimum_auth_version: 2 })
    await expect(attempt({}, asked2)).rejects.toThrow("set minimum_auth_version: 2 in the minion's")
    const { generation, request, aes } = await credentials({ minimumVersion: 2 }, asked2)
    expect([generation, request.digest()]).toEqual([2, aes.digest()])
  })
})

/** A request of wire1 as it would send it. */
async function frameOf(): Promise<Uint8Array> {
  let frame: Uint8Array = Buffer.alloc(0)
  await attempt({}, async (sent) => {
    frame = sent
    throw new Error('not answered')
  }).catch(() => {})
  return frame
}
