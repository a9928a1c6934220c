/**
 * Envelopes of requests, replies, publications and the event stream (wire protocol §3, §4, §5, §9), as they come and, so that
 * changes get past the MAC, encrypted with the right key after they were changed inside.
 */
import { isRecord } from '../../../core/base/record.ts'
import { AesKeys } from '../../../core/channel/aes-keys.ts'
import { sendClearRequest } from '../../../core/channel/clear-channel.ts'
import {
  deriveDirections,
  FrameCutter,
  MAX_CLEAR_FRAME_BYTES,
  packFrame,
  readClaim,
  readGreeting,
  readProof,
} from '../../../core/channel/event-stream.ts'
import { createRequestChannel } from '../../../core/channel/request-channel.ts'
import { createRequestServer } from '../../../core/channel/request-server.ts'
import type { SignInKeys } from '../../../core/channel/sign-in-client.ts'
import { receiveJobs } from '../../../core/channel/subscription.ts'
import { decode, encodeNetwork, type Value } from '../../../core/codec/index.ts'
import { encryptEnvelope } from '../../../core/crypto/envelope.ts'
import { SymmetricKey } from '../../../core/crypto/index.ts'
import { recordingLog } from '../../../core/testing/recording-log.ts'
import { packAes, packClear } from '../../../core/wire/envelope.ts'
import { packPublication } from '../../../core/wire/publication.ts'
import { keyPair } from '../../harness/key-pairs.ts'
import { vectors } from '../../harness/vectors.ts'
import { recordedMessages } from '../recorded.ts'
import { must, outcomeOf, refusal, type Target } from '../target.ts'

const [master, minion] = await Promise.all([keyPair('master'), keyPair('wire1')])
const aes = SymmetricKey.parse(vectors('keys').aes_key_string ?? SymmetricKey.generate().text)
const session = SymmetricKey.generate()
const algorithms = { encryption: 'OAEP-SHA1', signing: 'PKCS1v15-SHA1' } as const
const tok = minion.seal(Buffer.from('salt'))
const NONCE = '0123456789abcdef0123456789abcdef'
const now = () => Date.UTC(2026, 10, 21)
const ts = now() / 1000

/** Lines that say that an error was caught which nobody had expected. */
const failures: string[] = []
const log = recordingLog((_, message) => {
  if (/failed|could not be (?:decrypted or )?read/.test(message)) failures.push(message)
})

const credentials: SignInKeys = {
  generation: 3,
  aes,
  request: session,
  publishPort: 4505,
  masterKey: master.publicKey,
}

const answer = createRequestServer({
  aesKeys: new AesKeys(aes, 0, { now }),
  session: async (id) => (id === 'wire1' ? { key: session, owner: minion.publicKey, used: true } : undefined),
  publicKey: async (id) => (['wire1', 'old'].includes(id) ? minion.publicKey : undefined),
  speaksGeneration3: async (id) => id === 'wire1',
  spokeGeneration3: async () => undefined,
  requestTtl: 300,
  minimumVersion: 2,
  clear: new Map([['ping', async (load) => load]]),
  encrypted: new Map([['echo', async (load) => load]]),
  signIn: async () => Buffer.from([0xc0]),
  deadlineMs: 60_000,
  log,
  now,
})

/** Ask the server, and check that there is an answer which its sender can read. */
async function served(frame: Uint8Array, key: SymmetricKey): Promise<string> {
  const reply = decode(await answer(frame))
  if (!(reply instanceof Uint8Array)) return `refused: ${String(reply).replace(/id .*/, 'id …').slice(0, 60)}`
  must(key.decrypt(reply) !== undefined, 'The answer is encrypted with another key')
  return 'answered'
}

/** The answer to each request of the minion, made from its nonce. */
let replyTo: (nonce: string) => Uint8Array
const channel = createRequestChannel({
  id: 'wire1',
  key: minion,
  algorithms,
  now,
  client: { request: async (frame) => replyTo(nonceOf(frame)), close: async () => {} },
  credentials: async () => credentials,
  renew: async () => credentials,
})

/** A request of a minion whose every answer is made by `reply`. */
async function asked(kind: 'request' | 'pillar', reply: (nonce: string) => Uint8Array): Promise<string> {
  replyTo = reply
  try {
    await channel[kind]({ cmd: 'echo' }, 1000)
    return 'answer'
  } catch (error) {
    return refusal(error, ['AUTHENTICATION_FAILED', 'DECODE_FAILED', 'KEY_INVALID'])
  }
}

function nonceOf(frame: Uint8Array): string {
  const { load } = decode(frame) as { load: Uint8Array }
  return (decode(session.decrypt(load) ?? Buffer.alloc(0)) as { nonce: string }).nonce
}

async function clearlyAsked(reply: Uint8Array): Promise<string> {
  try {
    await sendClearRequest({ request: async () => reply, close: async () => {} }, { cmd: 'ping' }, 1000)
    return 'answer'
  } catch (error) {
    return refusal(error, ['AUTHENTICATION_FAILED', 'DECODE_FAILED'])
  }
}

async function published(frame: Uint8Array, requireSignature: boolean): Promise<string> {
  const frames = {
    onConnection: () => {},
    close: async () => {},
    async *[Symbol.asyncIterator]() {
      yield frame
    },
  }
  const settings = {
    frames,
    log,
    requireSignature,
    credentials: async () => credentials,
    renew: async () => credentials,
    onUndecryptable: () => {},
  }
  for await (const { job } of receiveJobs(settings)) {
    must(typeof job.jid === 'string' && Array.isArray(job.arg), 'A job has no jid or no arguments')
    return 'job'
  }
  return 'no job'
}

/** The bytes as a stream, in pieces; each frame is read as a greeting and as a claim. */
function streamed(bytes: Buffer): string {
  const cutter = new FrameCutter()
  const outcomes = new Set<string>()
  try {
    for (let at = 0; at < bytes.length; at += 50)
      for (const frame of cutter.push(bytes.subarray(at, at + 50), () => MAX_CLEAR_FRAME_BYTES)) {
        outcomes.add(readClaim(frame) ? 'claim' : 'no claim')
        readGreeting(frame)
        outcomes.add('greeting')
      }
  } catch (error) {
    outcomes.add(refusal(error, ['DECODE_FAILED']))
  }
  return [...outcomes].join(' ')
}

const streamKey = Buffer.alloc(32, 7)
const proven = (message: Buffer): string =>
  readProof(session.encrypt(message), session, streamKey) ? 'proof' : 'no proof'

/** A frame of the event stream: in its turn it is opened, a second time or made with another key it is not. */
function opened(content: Buffer): string {
  const [sender, receiver] = [1, 2].map(() => deriveDirections(session, streamKey, streamKey).toClient)
  if (!sender || !receiver) return ''
  const frame = sender.seal(content[0] ?? 0, content.subarray(1)).subarray(4)
  const { payload } = receiver.open(frame)
  must(payload.equals(content.subarray(1)), 'A frame of the event stream arrived changed')
  const refused = [frame, session.encrypt(content)].map((forged) =>
    outcomeOf(() => `frame of kind ${receiver.open(forged).kind}`, ['AUTHENTICATION_FAILED']),
  )
  must(
    refused.every((outcome) => outcome === 'AUTHENTICATION_FAILED'),
    'A repeated or forged frame was read',
  )
  return 'frame'
}

/** An envelope of any content: decrypting it throws nothing, whatever the nonce. */
function unsealed(plain: Buffer): string {
  const raw = Buffer.from(session.text, 'base64')
  const keys = { cipher: raw.subarray(0, 24), mac: raw.subarray(24) }
  const sealed = encryptEnvelope(keys, Buffer.alloc(16, 1), [plain])
  const outcomes = [session.decrypt(sealed), session.decrypt(sealed, NONCE), aes.decrypt(sealed)]
  must(outcomes[2] === undefined, 'Another key decrypts the envelope')
  must(session.decrypt(plain) === undefined, 'What was not sealed is decrypted')
  return outcomes.map((found) => (found ? 'opened' : 'refused')).join(' ')
}

const pillarKey = minion.publicKey.encrypt(Buffer.from(aes.text), algorithms.encryption)

/** A pillar reply with this inside, signed by the master; key and nonce are put in where they are missing. */
function pillarOf(inner: Value, nonce: string): Buffer {
  const key = pillarKey
  const whole = encodeNetwork(isRecord(inner) ? { key, nonce, ...inner } : inner)
  const sig = master.sign(whole, algorithms.signing)
  return encodeNetwork({ key, pillar: aes.encrypt(encodeNetwork({ data: whole, sig })) })
}

const readable = (message: Buffer): Value | undefined => {
  try {
    return decode(message)
  } catch {
    return undefined
  }
}

type Way = (bytes: Buffer) => string | Promise<string>

/** What is done with the rest of an input, by its first byte. */
const ways: readonly Way[] = [
  (frame) => served(frame, session),
  (load) => served(packAes({ load: session.encrypt(load), version: 3, id: 'wire1', algorithms }), session),
  (load) => served(packAes({ load: aes.encrypt(load), version: 2, id: 'old', algorithms }), aes),
  unsealed,
  (frame) => asked('request', () => frame),
  (message) => asked('request', (nonce) => encodeNetwork(session.encrypt(message, nonce))),
  (frame) => asked('pillar', () => frame),
  (data) => {
    const inner = readable(data)
    return inner === undefined ? 'not signed' : asked('pillar', (nonce) => pillarOf(inner, nonce))
  },
  clearlyAsked,
  (frame) => published(frame, true),
  (load) => published(packPublication({ load: aes.encrypt(load) }), false),
  (words) => {
    const job = { fun: 'test.ping', arg: [], tgt: '*', jid: '20261121000000000001' }
    const sealed = { load: aes.encrypt(encodeNetwork(job)), words: { load: aes.encrypt(words) } }
    return published(packPublication(sealed), false)
  },
  streamed,
  proven,
  opened,
]

const seeded = (way: number, messages: readonly Uint8Array[]): Buffer[] =>
  messages.map((message) => Buffer.concat([Buffer.from([way]), message]))

const load = { cmd: 'echo', id: 'wire1', nonce: NONCE, ts, tok }
const old = { cmd: 'echo', id: 'old', nonce: NONCE, tok }
const job = {
  fun: 'test.ping',
  arg: [{ __kwarg__: true, a: 1 }],
  tgt: '*',
  jid: '20261121000000000001',
  ret: '',
  serial: 7,
}
const words = { jid: job.jid, words: { args: ['1.10', null], kwargs: { a: 'yes' } } }
const greeting = { event_stream: 1, nonce: streamKey.toString('hex') }
const claim = { id: 'api-1', proof: session.encrypt(Buffer.from([0x80])) }

const seeds = [
  ...seeded(0, recordedMessages('generation-3', ['request_b64']).slice(0, 8)),
  ...seeded(0, recordedMessages('request-channel', ['request_b64']).slice(0, 8)),
  ...seeded(0, [
    packClear({ cmd: 'ping', a: 1 }),
    packAes({ load: session.encrypt(encodeNetwork(load)), version: 3, id: 'wire1', algorithms }),
  ]),
  ...seeded(1, [encodeNetwork(load), encodeNetwork({ ...load, list: [1, 'é', Buffer.from([0xff])] })]),
  ...seeded(2, [encodeNetwork(old), encodeNetwork({ cmd: 'echo' })]),
  ...seeded(3, [Buffer.from(`pickle::${NONCE}\x80`), Buffer.from('pickle::'), Buffer.from('other')]),
  ...seeded(4, recordedMessages('generation-3', ['reply_b64']).slice(0, 8)),
  ...seeded(5, [encodeNetwork({ a: 1 })]),
  ...seeded(6, recordedMessages('request-channel', ['reply_b64']).slice(0, 8)),
  ...seeded(6, [pillarOf({ pillar: {} }, NONCE)]),
  ...seeded(7, [encodeNetwork({ pillar: { a: 1 } })]),
  ...seeded(8, [encodeNetwork({ enc: 'clear', load: { jid: '1', minions: [] } }), encodeNetwork('bad load')]),
  ...seeded(9, recordedMessages('publish', ['frames_b64']).slice(0, 8)),
  ...seeded(10, [encodeNetwork(job), encodeNetwork({ ...job, fun: ['a.b', 'c.d'], arg: [[], []] })]),
  ...seeded(11, [encodeNetwork(words), encodeNetwork({ ...words, words: [null, words.words] })]),
  ...seeded(12, [packFrame(encodeNetwork(greeting)), packFrame(encodeNetwork(claim)), Buffer.alloc(8)]),
  ...seeded(13, [encodeNetwork({ ...greeting, event_stream: greeting.nonce, own: greeting.nonce })]),
  ...seeded(14, [Buffer.from('\x01tag\n\n\x01')]),
]

export default (): Target => ({ form: 'message', choices: [ways.length], seeds, run })

async function run(input: Buffer): Promise<string> {
  failures.length = 0
  const way = (input[0] ?? 0) % ways.length
  const outcome = await ways[way]?.(input.subarray(1))
  must(failures.length === 0, failures.join('\n'))
  return `${way} ${outcome}`
}
