import { createHash } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { AesKeys } from '../../../core/channel/aes-keys.ts'
import { PublishChannel } from '../../../core/channel/publish-channel.ts'
import { decode } from '../../../core/codec/index.ts'
import { type PrivateKey, SymmetricKey } from '../../../core/crypto/index.ts'
import type { PublishServer } from '../../../core/transport/contract.ts'
import { makeJobLoad, readPublication } from '../../../core/wire/publication.ts'
import { keyPair } from '../../harness/key-pairs.ts'

const job = makeJobLoad({
  fun: 'test.ping',
  arg: [],
  tgt: '*',
  jid: '20261121120000000001',
  tgt_type: 'glob',
})
const topicOf = (id: string) => createHash('sha1').update(id).digest('hex')

let masterKey: PrivateKey
let aesKeys: AesKeys
let sent: { payload: Uint8Array; topic: string | undefined }[]

function channel(options: Partial<ConstructorParameters<typeof PublishChannel>[0]> = {}): PublishChannel {
  const publish = async (payload: Uint8Array, topic?: string) => void sent.push({ payload, topic })
  const server = { publish } as PublishServer
  return new PublishChannel({
    server,
    aesKeys,
    masterKey,
    signing: 'PKCS1v15-SHA1',
    filtering: false,
    ...options,
  })
}

const loadOf = (payload: Uint8Array) =>
  decode(aesKeys.current.decrypt(readPublication(payload)!.load)!) as Record<string, unknown>

beforeEach(async () => {
  masterKey = await keyPair('master')
  aesKeys = new AesKeys(SymmetricKey.generate(), 0, { now: () => 0 })
  sent = []
})

test('without zmq_filtering a publication is sent once, to all minions', async () => {
  await channel().publish(job, ['web1', 'web2'])
  expect(sent.map(({ topic }) => topic)).toEqual([undefined])
})

test('with zmq_filtering it is sent to the topic of each targeted minion, with the same payload', async () => {
  await channel({ filtering: true }).publish(job, ['web1', 'web2'])
  expect(sent.map(({ topic }) => topic)).toEqual([topicOf('web1'), topicOf('web2')])
  expect(sent[0]?.payload).toBe(sent[1]?.payload)
})

test('with zmq_filtering and a target without known ids it is sent to all', async () => {
  await channel({ filtering: true }).publish(job)
  expect(sent.map(({ topic }) => topic)).toEqual(['broadcast'])
})

test('publications are counted from 1, and anew with each AES key', async () => {
  const own = channel()
  for (let n = 0; n < 2; n++) await own.publish(job)
  expect(sent.map(({ payload }) => loadOf(payload).serial)).toEqual([1, 2])
  aesKeys.rotate()
  own.keyRotated()
  await own.publish(job)
  expect(loadOf(sent[2]!.payload).serial).toBe(1)
})

test.each(['PKCS1v15-SHA1', 'PKCS1v15-SHA224'] as const)(
  'they are signed with the algorithm of publish_signing_algorithm: %s',
  async (signing) => {
    await channel({ signing }).publish(job)
    const { load, signature } = readPublication(sent[0]!.payload)!
    expect(signature?.algorithm).toBe(signing)
    expect(masterKey.publicKey.verify(load, signature!.value, signing)).toBe(true)
  },
)

test('they are not signed with sign_pub_messages off', async () => {
  await channel({ signing: undefined }).publish(job)
  expect(readPublication(sent[0]!.payload)?.signature).toBeUndefined()
})
