import { createHash } from 'node:crypto'
import { SaltError } from '../base/errors.ts'
import { isRecord } from '../base/record.ts'
import { decode } from '../codec/index.ts'
import {
  fingerprint,
  newNonce,
  type PrivateKey,
  PublicKey,
  SymmetricKey,
  secretsEqual,
} from '../crypto/index.ts'
import type { RequestClient } from '../transport/contract.ts'
import { asBytes, asNumber, asText } from '../wire/bytes.ts'
import { type Algorithms, GENERATION_2, GENERATION_3, packClear, refusals } from '../wire/envelope.ts'
import { makeSignIn } from '../wire/sign-in.ts'

/** The keys an accepted minion received (wire protocol §6.4). */
export interface SignInKeys {
  readonly generation: 2 | 3
  readonly aes: SymmetricKey
  /** Key of requests and their replies: the session key, or in generation 2 the AES key. */
  readonly request: SymmetricKey
  /** Name of the master that answered, if the minion has several behind one connection: each has a key of requests of its own. */
  readonly master?: string
  readonly publishPort: number
  readonly masterKey: PublicKey
}

export type SignInOutcome =
  | {
      readonly state: 'accepted'
      readonly credentials: SignInKeys
      /** Whether the master did not have the key before. One of Python Salt does not say. */
      readonly isNew: boolean
    }
  | {
      /** `damaged`: the master cannot read the key that it has filed for this minion. */
      readonly state: 'pending' | 'rejected' | 'full' | 'damaged'
      /** The reason why the master refused the join token; a word from its reply. */
      readonly join?: string
    }

/** The master's public key as this minion knows it. */
export interface KnownMaster {
  read(): Promise<PublicKey | undefined>
  write(key: PublicKey): Promise<void>
}

export interface SignInJoin {
  prove(claim: { id: string; pub: string; nonce: string }): {
    readonly invite: string
    readonly proof: string
  }
  /** Return why this is not the master that made the token; undefined if it is. */
  refusal(master: PublicKey): string | undefined
}

export interface SignInSettings {
  readonly client: RequestClient
  readonly timeoutMs: number
  readonly id: string
  readonly key: PrivateKey
  readonly known: KnownMaster
  readonly algorithms: Algorithms
  /** `minimum_auth_version`; 2 accepts older masters. */
  readonly minimumVersion: number
  /** `master_finger`: the fingerprint that the master's key must have. */
  readonly fingerprint?: { readonly expected: string; readonly hash: string }
  /** A key that signs the master's key (`verify_master_pubkey_sign`). */
  readonly signingKey?: PublicKey
  readonly autosignGrains?: Readonly<Record<string, unknown>>
  /** Proves that this minion holds a join token, and checks the master's key at first contact. */
  readonly join?: SignInJoin
  /** Random text per process; the master proves that it can decrypt it. */
  readonly token: string
}

const changed = (reason: string) =>
  new SaltError(
    'MASTER_KEY_CHANGED',
    `The master could not be verified: ${reason}. If its key was replaced on purpose, remove minion_master.pub in the minion's pki_dir and start the minion again.`,
  )

/** Sign in once. Rejects with TIMEOUT, MASTER_KEY_CHANGED, FINGERPRINT_WRONG, or DECODE_FAILED for a malformed reply. */
export async function signIn(settings: SignInSettings): Promise<SignInOutcome> {
  const known = await settings.known.read()
  const nonce = newNonce()
  const { id, join } = settings
  const pub = settings.key.publicKey.pem
  const load = makeSignIn({
    id,
    nonce,
    pub,
    ...(join && { joinProof: join.prove({ id, pub, nonce }) }),
    algorithms: settings.algorithms,
    ...(known && { token: known.encrypt(Buffer.from(settings.token), settings.algorithms.encryption) }),
    ...(settings.autosignGrains && { autosignGrains: settings.autosignGrains }),
  })
  const frame = await settings.client.request(packClear(load, GENERATION_3), settings.timeoutMs)
  const { inner, bytes, signature } = readReply(frame)
  const offered = inner.pub_key === undefined ? undefined : offeredKey(settings, known, inner)
  const masterKey = offered ?? known
  if (masterKey && !masterKey.verify(bytes, signature, settings.algorithms.signing)) {
    throw changed('the signature of its sign-in reply does not fit the key this minion knows')
  }
  if (inner.nonce !== nonce) throw changed('its reply belongs to another request')
  // Last, since a wrong fingerprint ends the minion: a reply that its key has not signed for this request must not.
  if (offered) checkIsDemanded(settings, known, offered)
  if (inner.ret !== undefined) {
    return { state: stateOf(inner), ...(typeof inner.join === 'string' && { join: inner.join }) }
  }
  if (!masterKey) throw changed('it accepted the sign-in without showing its key')
  const isKnown = known?.equals(masterKey) ?? false
  const credentials = readCredentials(settings, inner, masterKey, isKnown)
  if (!isKnown) await settings.known.write(masterKey)
  return { state: 'accepted', credentials, isNew: inner.new === true }
}

function stateOf({ ret, damaged }: Record<string, unknown>): 'pending' | 'rejected' | 'full' | 'damaged' {
  if (ret === 'full') return 'full'
  if (damaged === true) return 'damaged'
  return ret === false ? 'rejected' : 'pending'
}

function readReply(frame: Uint8Array): { inner: Record<string, unknown>; bytes: Buffer; signature: Buffer } {
  const reply = decode(frame)
  const bytes = isRecord(reply) ? asBytes(reply.load) : undefined
  const signature = isRecord(reply) ? asBytes(reply.sig) : undefined
  const inner = bytes && decode(bytes)
  if (!bytes || !signature || !isRecord(inner)) throw unreadable(reply)
  return { inner, bytes, signature }
}

function unreadable(reply: unknown): SaltError {
  const load = isRecord(reply) && isRecord(reply.load) ? reply.load.ret : reply
  const said = typeof load === 'string' ? `: "${load}"` : ''
  const hint =
    load === 'bad load'
      ? ' It may use another protocol generation: see minimum_auth_version.'
      : load === 'bad enc algo' || load === 'bad sig algo'
        ? ' Set encryption_algorithm and signing_algorithm to what it supports.'
        : load === refusals.exception
          ? ' Its log says why.'
          : ''
  return new SaltError('DECODE_FAILED', `The master refused the sign-in${said}.${hint}`, { reply: load })
}

/** Return the key that the master shows: the first one, the stored one, or one signed by the signing key. */
function offeredKey(
  settings: SignInSettings,
  known: PublicKey | undefined,
  inner: Record<string, unknown>,
): PublicKey {
  const text = inner.pub_key
  if (typeof text !== 'string') throw changed('its public key is not text')
  const offered = PublicKey.parse(text)
  const vouched = checkVouched(settings, text, inner.pub_sig)
  if (known && !known.equals(offered) && !vouched) {
    throw changed('its public key is not the one this minion knows')
  }
  return offered
}

/** Check the fingerprint, and at first contact whether the key is that of the join token. */
function checkIsDemanded(settings: SignInSettings, known: PublicKey | undefined, offered: PublicKey): void {
  checkFingerprint(settings, offered)
  const refusal = known ? undefined : settings.join?.refusal(offered)
  if (refusal) throw new SaltError('FINGERPRINT_WRONG', refusal)
}

function checkFingerprint({ fingerprint: wanted }: SignInSettings, offered: PublicKey): void {
  if (!wanted) return
  const found = fingerprint(offered.pem, wanted.hash)
  if (found === wanted.expected.toLowerCase()) return
  throw new SaltError(
    'FINGERPRINT_WRONG',
    `The master's key has the fingerprint ${found}, and master_finger demands ${wanted.expected}. Compare it with ` +
      'what "salt-key -f master.pub" shows on the master: either the option is wrong, or this is not that master.',
    { found },
  )
}

/** Whether the signing key signed the master's key. Throws if option and signature do not agree. */
function checkVouched(settings: SignInSettings, pubKey: string, signature: unknown): boolean {
  const { signingKey } = settings
  if ((signature === undefined) !== (signingKey === undefined)) {
    throw changed(
      signingKey
        ? 'verify_master_pubkey_sign is set, and the master does not sign its key'
        : 'the master signs its key (master_sign_pubkey), and verify_master_pubkey_sign is not set here',
    )
  }
  if (!signingKey) return false
  const value = Buffer.from(String(signature), 'base64')
  if (signingKey.verify(Buffer.from(pubKey), value, settings.algorithms.signing)) return true
  throw changed('the signature of its public key is wrong')
}

function readCredentials(
  settings: SignInSettings,
  inner: Record<string, unknown>,
  masterKey: PublicKey,
  canReadToken: boolean,
): SignInKeys {
  const open = (field: string) => {
    const sealed = asBytes(inner[field])
    return sealed && settings.key.decrypt(sealed, settings.algorithms.encryption)?.toString('latin1')
  }
  const aesText = open('aes')
  const digest = asBytes(inner.sig) && masterKey.recover(asBytes(inner.sig)!)?.toString('latin1')
  if (!aesText || !digest || !secretsEqual(digest, sha256(aesText))) {
    throw changed('the AES key it sent is not signed with its key')
  }
  // The token was encrypted for the previously known key; a new, signed one cannot decrypt it.
  if (canReadToken && !secretsEqual(open('token') ?? '', settings.token)) {
    throw changed('it could not read the token this minion sent')
  }
  const aes = SymmetricKey.parse(aesText)
  const publishPort = asNumber(inner.publish_port) ?? 4505
  const session = open('session')
  if (session) {
    const master = asText(inner.master, MAX_NAME)
    const request = SymmetricKey.parse(session)
    return { generation: 3, aes, request, ...(master !== undefined && { master }), publishPort, masterKey }
  }
  if (settings.minimumVersion <= GENERATION_2) {
    return { generation: 2, aes, request: aes, publishPort, masterKey }
  }
  throw new SaltError(
    'AUTHENTICATION_FAILED',
    'The master uses protocol generation 2 (it sent no session key), but minimum_auth_version is 3. ' +
      "Upgrade the master, or set minimum_auth_version: 2 in the minion's configuration.",
  )
}

const MAX_NAME = 255

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
