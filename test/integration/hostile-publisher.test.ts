/** A man in the middle between a master and a minion, or another minion, cannot make a minion do anything. */
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { AesKeys } from '../../core/channel/aes-keys.ts'
import { PublishChannel } from '../../core/channel/publish-channel.ts'
import { createRequestChannel } from '../../core/channel/request-channel.ts'
import { type SignInKeys, signIn } from '../../core/channel/sign-in-client.ts'
import { receiveJobs } from '../../core/channel/subscription.ts'
import { decode, encodeNetwork } from '../../core/codec/index.ts'
import { type PrivateKey, type PublicKey, SymmetricKey } from '../../core/crypto/index.ts'
import { SeenJobs } from '../../core/jobs/seen-jobs.ts'
import { openStore, type Store } from '../../core/store/index.ts'
import type { PublishServer, RequestClient } from '../../core/transport/contract.ts'
import { type JobLoad, makeJobLoad, packPublication } from '../../core/wire/publication.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { InProcessMaster } from '../harness/in-process-master.ts'
import { keyPair } from '../harness/key-pairs.ts'
import { quietLog } from '../harness/log.ts'

const HOUR = 3_600_000

describe('publications', () => {
  let directory: string
  let store: Store
  let seen: SeenJobs
  let masterKey: PrivateKey
  let aesKeys: AesKeys
  let channel: PublishChannel
  let now: number
  /** Every frame that went out. */
  let recorded: Buffer[]
  let executed: string[]
  let signIns: number

  function open(): void {
    store = openStore(join(directory, 'returns.mdb'))
    seen = new SeenJobs(store)
  }

  beforeEach(async () => {
    directory = await temporaryFolder('salt-seen-')
    open()
    masterKey = await keyPair('master')
    now = Date.UTC(2026, 10, 21)
    aesKeys = new AesKeys(SymmetricKey.generate(), 0, { now: () => now })
    recorded = []
    executed = []
    signIns = 0
    const server = { publish: async (frame: Buffer) => void recorded.push(frame) } as unknown as PublishServer
    channel = new PublishChannel({ server, aesKeys, masterKey, signing: 'PKCS1v15-SHA1', filtering: false })
  })
  afterEach(async () => {
    await store.close()
    await removeFolder(directory)
  })

  const jobOf = (jid: string): JobLoad =>
    makeJobLoad({ fun: 'cmd.run', arg: ['id'], tgt: '*', jid, tgt_type: 'glob' })
  const jid = (n: number) => `20261121${String(n).padStart(12, '0')}`

  async function publish(from: number, to: number): Promise<void> {
    for (let n = from; n < to; n++) await channel.publish(jobOf(jid(n)))
  }

  const credentials = (): SignInKeys => ({
    generation: 3,
    aes: aesKeys.current,
    request: SymmetricKey.generate(),
    publishPort: 0,
    masterKey: masterKey.publicKey,
  })

  /** As a minion does: verify, decrypt, remember, run. */
  async function receive(frames: readonly Uint8Array[], requireSignature = true): Promise<void> {
    async function* all() {
      yield* frames
    }
    const settings = {
      frames: Object.assign(all(), { onConnection() {}, async close() {} }),
      log: quietLog,
      requireSignature,
      credentials: async () => credentials(),
      renew: async () => {
        signIns++
        return credentials()
      },
      onUndecryptable() {},
    }
    for await (const { job, serial, keyDigest } of receiveJobs(settings)) {
      if (await seen.accept({ keyDigest, serial, jid: job.jid, now })) executed.push(job.jid)
    }
  }

  async function restart(): Promise<void> {
    await store.close()
    open()
  }

  describe('CVE-2022-22936: that were recorded', () => {
    test('run once, and never again: live, after other jobs, an hour later, after a restart, after a day', async () => {
      await publish(0, 120)
      await receive(recorded)
      expect(executed).toEqual(Array.from({ length: 120 }, (_, n) => jid(n)))
      const replay = () => receive(recorded.slice(0, 120))
      await replay()
      await publish(120, 240)
      await receive(recorded.slice(120))
      await replay()
      now += HOUR
      await replay()
      await restart()
      await replay()
      now += 25 * HOUR
      await restart()
      await publish(240, 241)
      await receive(recorded.slice(240))
      await receive(recorded)
      expect(executed).toEqual(Array.from({ length: 241 }, (_, n) => jid(n)))
    })

    test('do not run under the next AES key, and the minion does not accept the old key as new', async () => {
      await publish(0, 10)
      await receive(recorded)
      aesKeys.rotate()
      channel.keyRotated()
      await receive(recorded.slice(0, 10))
      expect([executed.length, signIns]).toEqual([10, 10])
      await publish(10, 20)
      await receive(recorded)
      expect(executed).toHaveLength(20)
    })

    test('do not run in another order, and a delayed one does not run after a later one', async () => {
      await publish(0, 3)
      await receive([recorded[2]!, recorded[0]!, recorded[1]!, recorded[2]!])
      expect(executed).toEqual([jid(2)])
    })

    test('from a master that does not count do not run twice within a day', async () => {
      const load = aesKeys.current.encrypt(encodeNetwork(jobOf(jid(1))))
      const frame = packPublication({
        load,
        signature: { algorithm: 'PKCS1v15-SHA1', value: masterKey.sign(load, 'PKCS1v15-SHA1') },
      })
      await receive([frame, frame])
      await restart()
      now += 23 * HOUR
      await receive([frame])
      expect(executed).toEqual([jid(1)])
    })
  })

  describe('CVE-2016-1866, CVE-2017-7893: that do not come from the master', () => {
    /** Made by somebody who knows the AES key, as every minion does. */
    async function forgeries(): Promise<Record<string, Uint8Array>> {
      const job = jobOf(jid(1))
      const load = aesKeys.current.encrypt(encodeNetwork({ ...job, serial: 1 }))
      const other = await keyPair('wire2')
      const sign = (key: PrivateKey, data: Uint8Array = load) => key.sign(data, 'PKCS1v15-SHA1')
      const wrap = (value: unknown, algorithm: unknown = 'PKCS1v15-SHA1') =>
        encodeNetwork({ enc: 'aes', load, sig_algo: algorithm, sig: value })
      await channel.publish(jobOf(jid(2)))
      const honest = decode(recorded.pop()!) as { load: Buffer; sig: Buffer }
      return {
        'in the clear': encodeNetwork({ enc: 'clear', load: job }),
        'in the clear, signed': encodeNetwork({
          enc: 'clear',
          load: job,
          sig: sign(masterKey, encodeNetwork(job)),
        }),
        'honest but for saying that it is clear': encodeNetwork({ ...honest, enc: 'clear' }),
        'not signed': encodeNetwork({ enc: 'aes', load }),
        'with an empty signature': wrap(''),
        'with a nil signature': wrap(null),
        'signed by another minion': wrap(sign(other)),
        'with the signature of another publication': wrap(honest.sig),
        'with an unknown algorithm': wrap(sign(masterKey), 'none'),
        'with the signature of another algorithm': wrap(sign(masterKey), 'PKCS1v15-SHA224'),
        'with a sealed digest instead': wrap(masterKey.seal(Buffer.from('salt'))),
        'with a map as load': encodeNetwork({ enc: 'aes', load: job, sig: sign(masterKey) }),
        'with text as load': encodeNetwork({ enc: 'aes', load: 'x', sig: sign(masterKey) }),
        'of other bytes': flipped(packHonest(honest), 40),
        'cut off': packHonest(honest).subarray(0, -10),
        'not MessagePack': Buffer.from('GET / HTTP/1.1\r\n\r\n'),
        empty: Buffer.alloc(0),
        'a length bomb': Buffer.from('ddffffffff', 'hex'),
        'deeply nested': Buffer.alloc(100_000, 0x91),
      }
    }
    const packHonest = (honest: object) => encodeNetwork({ enc: 'aes', sig_algo: 'PKCS1v15-SHA1', ...honest })

    test('are ignored, and genuine ones after them run', async () => {
      const forged = await forgeries()
      for (const [name, frame] of Object.entries(forged)) {
        await receive([frame])
        expect([name, executed]).toEqual([name, []])
      }
      expect(signIns).toBe(0)
      await publish(3, 4)
      await receive([...Object.values(forged), ...recorded])
      expect(executed).toEqual([jid(3)])
    })

    test('are ignored when they are signed but contain no job', async () => {
      const loads = [
        {},
        { fun: 'cmd.run' },
        { ...jobOf(jid(1)), jid: 5 },
        { ...jobOf(jid(1)), fun: [{}] },
        ['x'],
        'x',
        null,
      ]
      for (const load of loads) {
        const sealed = aesKeys.current.encrypt(encodeNetwork(load))
        const value = masterKey.sign(sealed, 'PKCS1v15-SHA1')
        await receive([packPublication({ load: sealed, signature: { algorithm: 'PKCS1v15-SHA1', value } })])
      }
      expect(executed).toEqual([])
    })

    test('are accepted unsigned only with sign_pub_messages off, and with a wrong signature never', async () => {
      const forged = await forgeries()
      await receive(
        [forged['signed by another minion']!, forged['with the signature of another publication']!],
        false,
      )
      expect(executed).toEqual([])
      await receive([forged['not signed']!], false)
      expect(executed).toEqual([jid(1)])
    })
  })
})

describe('a reply from a man in the middle', () => {
  let master: InProcessMaster
  let minionKey: PrivateKey
  let known: PublicKey | undefined

  beforeEach(async () => {
    master = await InProcessMaster.open()
    minionKey = await keyPair('wire1')
    await master.file('wire1', minionKey.publicKey)
    known = undefined
  })
  afterEach(() => master.close())

  type Change = (reply: Uint8Array, request: Uint8Array) => Uint8Array | Promise<Uint8Array>

  const through = (change: Change): RequestClient => ({
    request: async (frame) => change(await master.answer(frame), frame),
    async close() {},
  })

  async function remember(key: PublicKey): Promise<void> {
    known = key
  }

  const attempt = (change: Change = (reply) => reply) =>
    signIn({
      client: through(change),
      timeoutMs: 1000,
      id: 'wire1',
      key: minionKey,
      known: { read: async () => known, write: remember },
      algorithms: { encryption: 'OAEP-SHA1', signing: 'PKCS1v15-SHA1' },
      minimumVersion: 3,
      token: SymmetricKey.generate().text,
    })

  const nonceOf = (request: Uint8Array) => (decode(request) as { load: { nonce: string } }).load.nonce

  test('CVE-2022-22935: does not end a sign-in if the master is known', async () => {
    const outcome = await attempt()
    expect(outcome.state).toBe('accepted')
    const foreign = await keyPair('wire2')
    const signed = (inner: object, key: PrivateKey) => {
      const load = encodeNetwork(inner)
      return encodeNetwork({ enc: 'clear', load, sig: key.sign(load, 'PKCS1v15-SHA1') })
    }
    const replies: Record<string, Change> = {
      'an unsigned refusal': () => encodeNetwork({ enc: 'clear', load: { ret: false } }),
      'an unsigned "full"': () => encodeNetwork({ enc: 'clear', load: { ret: 'full' } }),
      'a refusal with a foreign signature': (_, request) =>
        signed({ ret: false, nonce: nonceOf(request) }, foreign),
      "a refusal with the master's signature for another request": async () => {
        const other = await Promise.resolve(
          signed({ ret: false, nonce: '0'.repeat(32) }, await keyPair('master')),
        )
        return other
      },
      'bad load': () => encodeNetwork('bad load'),
      garbage: () => Buffer.from('c1', 'hex'),
      nothing: () => Buffer.alloc(0),
      'another key': (_, request) =>
        signed({ enc: 'pub', pub_key: foreign.publicKey.pem, nonce: nonceOf(request) }, foreign),
      'the reply to an earlier sign-in': () => earlier,
    }
    const earlier = Buffer.from(await master.answer((await recordSignIn()).frame))
    for (const [name, change] of Object.entries(replies)) {
      const result = await attempt(change).then(
        ({ state }) => state,
        (error: { code?: string }) => error.code,
      )
      expect([name, result]).toEqual([
        name,
        expect.stringMatching(/^(MASTER_KEY_CHANGED|DECODE_FAILED|KEY_INVALID)$/),
      ])
      expect(known?.equals((await keyPair('master')).publicKey)).toBe(true)
    }
    expect((await attempt()).state).toBe('accepted')
  })

  async function recordSignIn(): Promise<{ frame: Uint8Array }> {
    let frame: Uint8Array = Buffer.alloc(0)
    await attempt((reply, request) => {
      frame = request
      return reply
    })
    return { frame }
  }

  test('CVE-2022-22934: cannot replace a pillar, which the master must have signed for this request', async () => {
    const outcome = await attempt()
    if (outcome.state !== 'accepted') throw new Error('not accepted')
    let change: Change = (reply) => reply
    const channel = createRequestChannel({
      client: through((reply, request) => change(reply, request)),
      id: 'wire1',
      key: minionKey,
      algorithms: { encryption: 'OAEP-SHA1', signing: 'PKCS1v15-SHA1' },
      credentials: async () => outcome.credentials,
      renew: async () => outcome.credentials,
      now: Date.now,
    })
    const ask = () => channel.pillar({ cmd: '_pillar', grains: {}, ver: '2' }, 1000)
    let first: Uint8Array | undefined
    change = (reply) => (first ??= reply)
    expect(await ask()).toEqual({})
    await expect(ask(), 'the reply to an earlier request').rejects.toThrow(
      'not signed by the master for this request',
    )

    const once = SymmetricKey.generate()
    const wrapped = minionKey.publicKey.encrypt(Buffer.from(once.text), 'OAEP-SHA1')
    const forged = (content: unknown) =>
      encodeNetwork({ key: wrapped, pillar: once.encrypt(encodeNetwork(content)) })
    const [foreign, own] = await Promise.all([keyPair('wire2'), keyPair('master')])
    const dataFor = (nonce: string, key = wrapped) => encodeNetwork({ key, pillar: { forged: true }, nonce })
    const sign = (data: Buffer, key: PrivateKey) => key.sign(data, 'PKCS1v15-SHA1')
    const replies: ((nonce: string) => Uint8Array)[] = [
      () => forged({ forged: true }),
      (nonce) => forged({ data: dataFor(nonce), sig: sign(dataFor(nonce), foreign) }),
      (nonce) => forged({ data: dataFor(nonce), sig: sign(dataFor('x'), own) }),
      (nonce) => forged({ data: dataFor(nonce) }),
      () => forged({ data: dataFor('x'), sig: sign(dataFor('x'), own) }),
      (nonce) => {
        const data = dataFor(nonce, minionKey.publicKey.encrypt(Buffer.from('another'), 'OAEP-SHA1'))
        return forged({ data, sig: sign(data, own) })
      },
      () => encodeNetwork({ key: 'x', pillar: 'y' }),
      () => encodeNetwork({}),
      () => encodeNetwork('bad load'),
      () => Buffer.from('c1', 'hex'),
    ]
    for (const reply of replies) {
      change = (_, request) => reply(sealedNonce(request, outcome.credentials.request))
      await expect(ask()).rejects.toMatchObject({
        code: expect.stringMatching(/AUTHENTICATION_FAILED|DECODE_FAILED/),
      })
    }
  })
})

/** Nobody in between can read it; were it to leak, the pillar would still need the master's signature. */
function sealedNonce(request: Uint8Array, session: SymmetricKey): string {
  const { load } = decode(request) as { load: Buffer }
  return (decode(session.decrypt(load)!) as { nonce: string }).nonce
}

function flipped(frame: Uint8Array, at: number): Buffer {
  const copy = Buffer.from(frame)
  copy[at] = (copy[at] ?? 0) ^ 1
  return copy
}
