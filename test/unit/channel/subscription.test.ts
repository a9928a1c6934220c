import { expect, test, vi } from 'vitest'
import { AesKeys } from '../../../core/channel/aes-keys.ts'
import { BROADCAST_TOPIC, minionTopic, PublishChannel } from '../../../core/channel/publish-channel.ts'
import type { SignInKeys } from '../../../core/channel/sign-in-client.ts'
import {
  type ReceivedPublication,
  receiveJobs,
  type SubscriptionSettings,
} from '../../../core/channel/subscription.ts'
import { encodeNetwork } from '../../../core/codec/index.ts'
import { SymmetricKey } from '../../../core/crypto/index.ts'
import { packPublication, readPublication } from '../../../core/wire/publication.ts'
import { keyPair } from '../../harness/key-pairs.ts'
import { quietLog } from '../../harness/log.ts'

const job = { jid: '20261121000000000001', fun: 'test.ping', arg: [], tgt: '*', tgt_type: 'glob', ret: '' }

/** A master that publishes into a list, and what its minion holds. */
async function open({ signed = true, filtering = false, owner = 'master' } = {}) {
  const masterKey = await keyPair('master')
  const aesKeys = new AesKeys(SymmetricKey.generate(), 0, { now: () => 0 })
  const frames: { payload: Uint8Array; topic: string | undefined }[] = []
  const channel = new PublishChannel({
    server: {
      publish: async (payload, topic) => void frames.push({ payload, topic }),
      subscribers: 0,
      topics: new Set(),
      dropped: 0,
      port: 0,
      close: async () => {},
    },
    aesKeys,
    masterKey: await keyPair(owner),
    signing: signed ? 'PKCS1v15-SHA1' : undefined,
    filtering,
  })
  const held = (): SignInKeys => ({
    generation: 3,
    aes: aesKeys.current,
    request: aesKeys.current,
    publishPort: 4505,
    masterKey: masterKey.publicKey,
  })
  return { channel, frames, aesKeys, held }
}

async function received(
  payloads: readonly Uint8Array[],
  credentials: () => SignInKeys,
  changes: Partial<SubscriptionSettings> = {},
) {
  const warnings: string[] = []
  const nothing = () => {}
  const jobs: ReceivedPublication[] = []
  const stream = receiveJobs({
    frames: {
      onConnection: nothing,
      close: async () => {},
      async *[Symbol.asyncIterator]() {
        yield* payloads
      },
    },
    log: { ...quietLog, warn: (text) => void warnings.push(text) },
    requireSignature: true,
    credentials: async () => credentials(),
    renew: async () => credentials(),
    onUndecryptable: nothing,
    ...changes,
  })
  for await (const each of stream) jobs.push(each)
  return { jobs, warnings }
}

test('the words as typed arrive beside the job, which does not contain them', async () => {
  const { channel, frames, held } = await open()
  const words = { args: ['1.10'], kwargs: {} }
  await channel.publish({ ...job, arg: [1.1] }, undefined, words)
  const { jobs } = await received([frames[0]!.payload], held)
  expect(jobs).toMatchObject([{ job: { ...job, arg: [1.1] }, words }])
  expect(Object.keys(jobs[0]!.job)).not.toContain('words')
})

test('words that are not signed, or are of another job, are dropped', async () => {
  const { channel, frames, aesKeys, held } = await open()
  const words = { args: ['1.10'], kwargs: {} }
  await channel.publish(job, undefined, words)
  await channel.publish({ ...job, jid: '20261121000000000002' }, undefined, words)
  const [first, second] = frames.map(({ payload }) => readPublication(payload)!)
  const forged = { load: aesKeys.current.encrypt(encodeNetwork({ jid: job.jid, words })) }
  const { jobs, warnings } = await received(
    [
      packPublication({ ...first!, words: forged }),
      packPublication({ ...first!, words: second!.words! }),
      packPublication({ ...first!, words: { load: Buffer.from('short') } }),
    ],
    held,
  )
  expect(jobs.map((received) => 'words' in received)).toEqual([false, false, false])
  expect(warnings).toEqual([])
})

test('a job arrives with its number, which counts anew for each AES key', async () => {
  const { channel, frames, aesKeys, held } = await open()
  await channel.publish(job)
  await channel.publish(job)
  const first = held()
  aesKeys.rotate()
  channel.keyRotated()
  await channel.publish(job)
  const { jobs, warnings } = await received(
    frames.map(({ payload }) => payload),
    () => first,
    { renew: async () => held() },
  )
  expect(jobs.map(({ serial, keyDigest }) => [serial, keyDigest])).toEqual([
    [1, first.aes.digest()],
    [2, first.aes.digest()],
    [1, held().aes.digest()],
  ])
  expect(jobs[0]?.job).toEqual(job)
  expect(warnings).toEqual([])
})

test('a publication that cannot be decrypted makes the minion sign in, and is handled then, once', async () => {
  const { channel, frames, aesKeys, held } = await open()
  const stale = held()
  aesKeys.rotate()
  await channel.publish(job)
  const renew = vi.fn(async () => held())
  const { jobs } = await received([frames[0]?.payload as Uint8Array], () => stale, { renew })
  expect(jobs).toHaveLength(1)
  expect(renew.mock.calls).toEqual([[stale]])
})

test('a publication that cannot be decrypted after a sign-in is ignored and logged, and the next is handled', async () => {
  const { channel, frames, aesKeys, held } = await open()
  const stale = held()
  aesKeys.rotate()
  await channel.publish(job)
  const lost = frames[0]?.payload as Uint8Array
  aesKeys.rotate(stale.aes)
  await channel.publish(job)
  const good = frames[1]?.payload as Uint8Array
  const onUndecryptable = vi.fn()
  expect(await received([lost, good], () => stale, { onUndecryptable })).toMatchObject({
    jobs: [{ job }],
    warnings: [expect.stringContaining('even after signing in again')],
  })
  const renew = () => Promise.reject(new Error('no answer'))
  expect(onUndecryptable).toHaveBeenCalledTimes(1)
  expect(await received([lost, good], () => stale, { renew, onUndecryptable })).toMatchObject({
    jobs: [{ job }],
    warnings: [expect.stringContaining('no answer')],
  })
  expect(onUndecryptable).toHaveBeenCalledTimes(2)
})

test('unsigned publications are accepted only without requireSignature', async () => {
  const { channel, frames, held } = await open({ signed: false })
  await channel.publish(job)
  const payloads = frames.map(({ payload }) => payload)
  expect(await received(payloads, held)).toEqual({
    jobs: [],
    warnings: [expect.stringContaining('it is not signed by the master')],
  })
  expect((await received(payloads, held, { requireSignature: false })).jobs).toHaveLength(1)
})

test('a signature by another key, or of another content, is never accepted', async () => {
  const { channel, frames, held } = await open({ owner: 'wire2' })
  await channel.publish(job)
  const payloads = frames.map(({ payload }) => payload)
  for (const requireSignature of [true, false])
    expect((await received(payloads, held, { requireSignature })).jobs).toEqual([])

  const load = held().aes.encrypt(encodeNetwork(job))
  const value = (await keyPair('master')).sign(Buffer.from('something else'), 'PKCS1v15-SHA1')
  const moved = packPublication({ load, signature: { algorithm: 'PKCS1v15-SHA1', value } })
  expect((await received([moved], held)).jobs).toEqual([])
})

test('an invalid publication, and one without a valid job, is ignored with the reason', async () => {
  const { held } = await open()
  const aes = held().aes
  const { jobs, warnings } = await received(
    [
      Buffer.from([0xc1]),
      encodeNetwork({ enc: 'clear', load: job }),
      packPublication({ load: Buffer.from('short') }),
      packPublication({ load: aes.encrypt(encodeNetwork({ fun: 7 })) }),
      packPublication({ load: aes.encrypt(encodeNetwork('text')) }),
    ],
    held,
    { requireSignature: false },
  )
  expect(jobs).toEqual([])
  expect(warnings).toHaveLength(5)
})

test('with topics each targeted minion gets one message, and all get a broadcast if the ids are unknown', async () => {
  const { channel, frames } = await open({ filtering: true })
  await channel.publish(job, ['web1', 'web2'])
  await channel.publish(job)
  expect(frames.map(({ topic }) => topic)).toEqual([
    minionTopic('web1'),
    minionTopic('web2'),
    BROADCAST_TOPIC,
  ])
  expect(minionTopic('web1')).toMatch(/^[0-9a-f]{40}$/)
})
