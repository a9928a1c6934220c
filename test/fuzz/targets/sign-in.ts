/**
 * Sign-in (wire protocol §6): any request gets a reply that its sender can read, and a minion takes no key from a reply that
 * is not its master's. Replies are changed inside before the master signs them.
 */

import { isRecord } from '../../../core/base/record.ts'
import { type SignInSettings, signIn } from '../../../core/channel/sign-in-client.ts'
import { createSignInServer } from '../../../core/channel/sign-in-server.ts'
import { decode, encodeNetwork } from '../../../core/codec/index.ts'
import { PublicKey, SymmetricKey } from '../../../core/crypto/index.ts'
import { readEnvelope } from '../../../core/wire/envelope.ts'
import { makeAcceptance, makeSignIn } from '../../../core/wire/sign-in.ts'
import { keyPair } from '../../harness/key-pairs.ts'
import { quietLog } from '../../harness/log.ts'
import { recordedMessages } from '../recorded.ts'
import { must, outcomeOf, refusal, type Target } from '../target.ts'

const [master, minion, stranger] = await Promise.all([keyPair('master'), keyPair('wire1'), keyPair('wire2')])
const algorithms = { encryption: 'OAEP-SHA1', signing: 'PKCS1v15-SHA1' } as const
const NONCE = '0123456789abcdef0123456789abcdef'
const aes = SymmetricKey.generate()
const session = SymmetricKey.generate()
const verdicts = ['pending', 'rejected', 'denied', 'full', 'invalid'] as const

/** Signing takes a millisecond; what the server does before it is the same. */
const quickKey = Object.assign(Object.create(master) as typeof master, {
  publicKey: master.publicKey,
  sign: () => Buffer.alloc(256),
  seal: () => Buffer.alloc(256),
  decrypt: () => undefined,
})

const answer = createSignInServer({
  masterKey: quickKey,
  pubSignature: () => undefined,
  publishPort: 4505,
  aesKey: () => aes,
  sessionKey: async () => session,
  decide: async ({ id, pub }) => {
    const key = parsed(pub)
    if (key?.equals(minion.publicKey)) return { verdict: 'accepted', key, isNew: false }
    return { verdict: verdicts[id.length % verdicts.length] ?? 'pending' }
  },
  refusesVersion: async (_, version) => version < 3,
  announce: ({ id, pub }) =>
    must(typeof id === 'string' && typeof pub === 'string', 'An id or a key is no text'),
  log: quietLog,
})

function parsed(pem: string): PublicKey | undefined {
  try {
    return PublicKey.parse(pem)
  } catch (error) {
    refusal(error, ['KEY_INVALID'])
    return undefined
  }
}

async function served(load: Record<string, unknown>, version: number): Promise<string> {
  const reply = decode(await answer(load, version))
  if (!isRecord(reply)) return String(reply)
  const inner = reply.load instanceof Uint8Array ? decode(reply.load) : reply.load
  must(isRecord(inner), 'The reply has no inner map')
  must(inner.nonce === load.nonce || typeof inner.ret === 'string', 'The reply has another nonce')
  return inner.aes === undefined ? `ret ${String(inner.ret)}` : 'accepted'
}

interface Reply {
  readonly settings?: Partial<SignInSettings>
  of(nonce: string): Uint8Array
}

/** A sign-in of a minion that gets this reply. */
async function signedIn({ settings, of }: Reply): Promise<string> {
  const written: PublicKey[] = []
  try {
    const outcome = await signIn({
      client: { request: async (frame) => of(nonceOf(frame)), close: async () => {} },
      known: { read: async () => master.publicKey, write: async (key) => void written.push(key) },
      timeoutMs: 1000,
      id: 'wire1',
      key: minionKey,
      algorithms,
      minimumVersion: 3,
      token: 'a token',
      ...settings,
    })
    if (outcome.state !== 'accepted') return outcome.state
    must(outcome.credentials.masterKey.equals(master.publicKey), 'The key of another master was taken')
    return 'accepted'
  } catch (error) {
    must(written.length === 0, 'A key was kept although the sign-in failed')
    return refusal(error, [
      'MASTER_KEY_CHANGED',
      'FINGERPRINT_WRONG',
      'DECODE_FAILED',
      'KEY_INVALID',
      'AUTHENTICATION_FAILED',
    ])
  }
}

const nonceOf = (frame: Uint8Array): string => (decode(frame) as { load: { nonce: string } }).load.nonce

const signed = (inner: Uint8Array): Buffer =>
  encodeNetwork({ enc: 'clear', load: inner, sig: master.sign(inner, algorithms.signing) })

/** A reply with this inside; the nonce and what is sealed for the minion are put in where they are missing. */
function replyOf(message: Buffer): Reply['of'] {
  const inner = decode(message)
  const whole = (nonce: string) => encodeNetwork(isRecord(inner) ? { ...accepting, nonce, ...inner } : inner)
  return (nonce) => signed(whole(nonce))
}

const known = new Map<string, Buffer>()
function hidden(text: string): Buffer {
  const sealed = minion.publicKey.encrypt(Buffer.from(text), algorithms.encryption)
  known.set(sealed.toString('latin1'), Buffer.from(text))
  return sealed
}

/** Decrypting takes milliseconds, too; what was encrypted here is known. */
const minionKey = Object.assign(Object.create(minion) as typeof minion, {
  publicKey: minion.publicKey,
  decrypt: (sealed: Buffer) => known.get(sealed.toString('latin1')),
})
const accepting = makeAcceptance(
  {
    pubKey: master.publicKey.pem,
    publishPort: 4505,
    token: hidden('a token'),
    aes: hidden(aes.text),
    session: hidden(session.text),
    sig: master.seal(Buffer.from(aes.digest())),
  },
  NONCE,
)
const firstContact = { known: { read: async () => undefined, write: async () => {} } }

const isMessage = (bytes: Buffer): boolean =>
  outcomeOf(() => void decode(bytes), ['DECODE_FAILED']) === 'fine'

const ways: readonly ((bytes: Buffer) => string | Promise<string>)[] = [
  (frame) => {
    const envelope = readEnvelope(frame)
    return envelope.enc === 'clear' ? served(envelope.load, envelope.version) : envelope.enc
  },
  (load) => {
    const map = isMessage(load) ? decode(load) : undefined
    return isRecord(map) ? served(map, 3) : 'no map'
  },
  (pem) => (parsed(pem.toString()) ? 'key' : 'no key'),
  (frame) => signedIn({ of: () => frame }),
  (frame) => signedIn({ of: () => frame, settings: firstContact }),
  (inner) => (isMessage(inner) ? signedIn({ of: replyOf(inner) }) : 'no message'),
]

const seeded = (way: number, messages: readonly Uint8Array[]): Buffer[] =>
  messages.map((message) => Buffer.concat([Buffer.from([way]), message]))
const request = makeSignIn({
  id: 'wire1',
  nonce: NONCE,
  pub: minion.publicKey.pem,
  algorithms,
  autosignGrains: { a: 'b' },
})
const other = {
  ...request,
  id: 'new',
  pub: stranger.publicKey.pem,
  join_proof: `${'0'.repeat(12)}.${'0'.repeat(64)}`,
}

const seeds = [
  ...seeded(0, recordedMessages('auth', ['request_b64'], 4000).slice(0, 8)),
  ...seeded(1, [request, other, { ...request, token: hidden('x') }].map(encodeNetwork)),
  ...seeded(
    2,
    [minion, stranger].map(({ publicKey }) => Buffer.from(publicKey.pem)),
  ),
  ...seeded(3, recordedMessages('auth', ['reply_b64'], 4000).slice(0, 8)),
  ...seeded(4, recordedMessages('generation-3', ['reply_b64'], 4000).slice(0, 4)),
  ...seeded(
    5,
    [{}, { ret: true, aes: undefined }, { ret: 'full', join: 'spent' }, accepting].map(encodeNetwork),
  ),
]

export default (): Target => ({ form: 'message', choices: [ways.length], seeds, run })

async function run(input: Buffer): Promise<string> {
  const way = (input[0] ?? 0) % ways.length
  return `${way} ${await ways[way]?.(input.subarray(1))}`
}
