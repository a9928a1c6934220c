import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { SaltError } from '../../../core/base/errors.ts'
import { createRequestChannel, type RequestChannel } from '../../../core/channel/request-channel.ts'
import { type SignInKeys, signIn } from '../../../core/channel/sign-in-client.ts'
import { decode, Encoded, encodeNetwork } from '../../../core/codec/index.ts'
import { SymmetricKey } from '../../../core/crypto/index.ts'
import { MAX_CONTENT_BYTES, MAX_MESSAGE_BYTES, MAX_RETURN_BYTES } from '../../../core/wire/message-size.ts'
import { InProcessMaster } from '../../harness/in-process-master.ts'
import { keyPair } from '../../harness/key-pairs.ts'
import { SLOW } from '../../harness/slow.ts'

const ALGORITHMS = { encryption: 'OAEP-SHA1', signing: 'PKCS1v15-SHA1' } as const
type Wire = (frame: Uint8Array) => Promise<Uint8Array>

let master: InProcessMaster
beforeEach(async () => {
  master = await InProcessMaster.open({ options: { auto_accept: true } })
})
afterEach(() => master.close())

async function signedIn(): Promise<SignInKeys> {
  const outcome = await signIn({
    client: { request: (frame) => master.answer(frame), close: async () => {} },
    timeoutMs: 1000,
    id: 'wire1',
    key: await keyPair('wire1'),
    known: { read: async () => undefined, write: async () => {} },
    algorithms: ALGORITHMS,
    minimumVersion: 3,
    token: 'a token',
  })
  if (outcome.state !== 'accepted') throw new Error(outcome.state)
  return outcome.credentials
}

/** The channel of wire1 over a wire that may do what it likes. */
async function channel(wire: Wire, first?: SignInKeys) {
  const renew = vi.fn((_stale: SignInKeys) => signedIn())
  const credentials = first ?? (await signedIn())
  const requests: RequestChannel = createRequestChannel({
    client: { request: wire, close: async () => {} },
    id: 'wire1',
    key: await keyPair('wire1'),
    algorithms: ALGORITHMS,
    credentials: async () => credentials,
    renew,
    now: () => master.now,
  })
  return { requests, renew, credentials }
}

const honest: Wire = (frame) => master.answer(frame)
const event = { cmd: '_minion_event', tag: 'my/tag', data: { a: 1 } }

test('a request is answered, and the master knows its sender', SLOW, async () => {
  const { requests, renew } = await channel(honest)
  expect(await requests.request(event, 1000)).toBeNull()
  expect(master.events.at(-1)).toMatchObject({ tag: 'my/tag', data: { id: 'wire1', data: { a: 1 } } })
  expect(renew).not.toHaveBeenCalled()
})

test('a request contains sender and time in generation 3, and in generation 2 the token where it is needed', async () => {
  const key = SymmetricKey.generate()
  const seen: Record<string, unknown>[] = []
  const wire: Wire = async (frame) => {
    const outer = decode(frame) as Record<string, unknown>
    const load = decode(key.decrypt(outer.load as Uint8Array) as Buffer) as Record<string, unknown>
    seen.push({ ...load, version: outer.version, outerId: outer.id })
    return encodeNetwork(key.encrypt(encodeNetwork(null), String(load.nonce)))
  }
  const masterKey = (await keyPair('master')).publicKey
  for (const generation of [3, 2] as const) {
    const first: SignInKeys = { generation, aes: key, request: key, publishPort: 0, masterKey }
    const { requests } = await channel(wire, first)
    await requests.request({ cmd: '_return', id: 'wire1' }, 1000)
    await requests.request({ ...event, id: 'wire1' }, 1000)
  }
  const tok = expect.any(Uint8Array)
  const ts = Math.floor(master.now / 1000)
  expect(seen).toEqual([
    expect.objectContaining({ cmd: '_return', version: 3, outerId: 'wire1', tok, ts }),
    expect.objectContaining({ cmd: '_minion_event', version: 3, tok, ts }),
    expect.not.objectContaining({ tok }),
    expect.objectContaining({ cmd: '_minion_event', version: 2, outerId: undefined, tok }),
  ])
})

test('when a master cannot decrypt a request, the minion signs in again and sends it once more', async () => {
  const stale = { ...(await signedIn()), request: SymmetricKey.generate() }
  const { requests, renew } = await channel(honest, stale)
  expect(await requests.request(event, 1000)).toBeNull()
  expect(renew.mock.calls).toEqual([[stale]])
})

test('a master that refuses twice causes an error in a sentence', async () => {
  const wire = vi.fn(async () => Buffer.from(encodeNetwork('bad load')))
  const { requests, renew } = await channel(wire)
  await expect(requests.request(event, 1000)).rejects.toMatchObject({
    code: 'AUTHENTICATION_FAILED',
    message: expect.stringContaining('_minion_event twice'),
  })
  expect([wire.mock.calls.length, renew.mock.calls.length]).toEqual([2, 1])
})

test('the answer to another request is refused', async () => {
  const answers: Uint8Array[] = []
  const { requests } = await channel(async (frame) => {
    answers.push(await master.answer(frame))
    return answers[0] as Uint8Array
  })
  expect(await requests.request(event, 1000)).toBeNull()
  await expect(requests.request(event, 1000)).rejects.toMatchObject({ code: 'AUTHENTICATION_FAILED' })
})

test('errors of the transport for an unanswered request are passed on', async () => {
  const gone = new Error('gone')
  const { requests, renew } = await channel(() => Promise.reject(gone))
  await expect(requests.request(event, 1000)).rejects.toBe(gone)
  expect(renew).not.toHaveBeenCalled()
})

const pillar = { cmd: '_pillar', id: 'wire1', grains: {}, saltenv: null, pillarenv: null, ver: '2' }

test('a pillar is decrypted with a key of its own, and must be signed for this request', async () => {
  const { requests } = await channel(honest)
  expect(await requests.pillar(pillar, 1000)).toEqual({})

  const answers: Uint8Array[] = []
  const replaying = await channel(async (frame) => {
    answers.push(await master.answer(frame))
    return answers[0] as Uint8Array
  })
  expect(await replaying.requests.pillar(pillar, 1000)).toEqual({})
  await expect(replaying.requests.pillar(pillar, 1000)).rejects.toThrow('not signed by the master for this')
})

test('a pillar encrypted with another key is refused', async () => {
  const stranger = (await keyPair('wire2')).publicKey
  const { requests } = await channel(honest, { ...(await signedIn()), masterKey: stranger })
  await expect(requests.pillar(pillar, 1000)).rejects.toMatchObject({ code: 'AUTHENTICATION_FAILED' })
})

test(
  'the largest allowed return fits into a message, and a larger message is refused before it is sent',
  SLOW,
  async () => {
    const frames: number[] = []
    const { requests } = await channel(async (frame) => {
      frames.push(frame.length)
      throw new Error('no answer')
    })
    const filled = (bytes: number) => ({ cmd: '_return', return: new Encoded(Buffer.alloc(bytes, 0xc0)) })
    await expect(requests.request(filled(MAX_RETURN_BYTES), 1000)).rejects.toThrow('no answer')
    expect(frames[0]).toBeGreaterThan(MAX_RETURN_BYTES)
    expect(frames[0]).toBeLessThanOrEqual(MAX_MESSAGE_BYTES)
    frames.length = 0
    await expect(requests.request(filled(MAX_CONTENT_BYTES), 1000)).rejects.toMatchObject({
      code: 'MESSAGE_TOO_LARGE',
      message: expect.stringMatching(
        /^The message _return is too large: it has \S+ MiB, and a master accepts 100.0 MiB at most/,
      ),
    })
    expect(frames).toEqual([])
  },
)

let second: InProcessMaster | undefined
afterEach(async () => {
  await second?.close()
  second = undefined
})

/** Two masters of a cluster that serve a minion over one connection, and the channel of wire1 to both. */
async function twoMasters() {
  const options = { auto_accept: true, cluster_id: 'north', transport: 'nats' }
  const aes = SymmetricKey.generate().text
  const one = await InProcessMaster.open({ options: { ...options, id: 'one' }, aes })
  const two = await InProcessMaster.open({ options: { ...options, id: 'two' }, aes })
  second = two
  await two.file('wire1', (await keyPair('wire1')).publicKey)
  await master.close()
  master = one
  const credentials = await signedIn()
  const frames: Uint8Array[] = []
  const present = new Set(['one', 'two'])
  const requests = createRequestChannel({
    client: {
      async request(frame, _, to) {
        frames.push(frame)
        if (!present.has(String(to))) throw new SaltError('MASTER_GONE', `${to} is not there`)
        return (to === 'one' ? one : two).answer(frame)
      },
      choose: (wanted) => (wanted && present.has(wanted) ? wanted : [...present][0]),
      close: async () => {},
    },
    id: 'wire1',
    key: await keyPair('wire1'),
    algorithms: ALGORITHMS,
    credentials: async () => credentials,
    renew: () => signedIn(),
    now: () => one.now,
  })
  return { one, two, requests, frames, present }
}

test('a request to one of several masters cannot be replayed to another', SLOW, async () => {
  const { one, two, requests, frames } = await twoMasters()
  await requests.request(event, 1000)
  expect(one.events.map(({ tag }) => tag)).toContain('my/tag')
  expect(decode(await two.answer(frames[0]!))).toBe('bad load')
  expect(two.events.map(({ tag }) => tag)).not.toContain('my/tag')
  await requests.request(event, 1000, { prefer: 'two' })
  expect(two.events.map(({ tag }) => tag)).toContain('my/tag')
  expect(decode(await one.answer(frames[1]!))).toBe('bad load')
})

test(
  'a request goes to another of several masters if its own is down, unless it is for that master only',
  SLOW,
  async () => {
    const { two, requests, present } = await twoMasters()
    present.delete('one')
    await expect(requests.request(event, 1000, { only: 'one' })).rejects.toMatchObject({
      code: 'MASTER_GONE',
    })
    expect(two.events).toEqual([])
    await requests.request(event, 1000, { prefer: 'one' })
    expect(two.events.map(({ tag }) => tag)).toContain('my/tag')
  },
)
