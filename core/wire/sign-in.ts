import { encodeNetwork } from '../codec/index.ts'
import type { PrivateKey } from '../crypto/index.ts'
import { asBytes, asText } from './bytes.ts'
import { type Algorithms, readAlgorithms } from './envelope.ts'

/** The load of a sign-in (wire protocol §6.1). */
export interface SignInRequest {
  readonly id: string
  readonly nonce: string
  readonly pub: string
  readonly algorithms: Algorithms
  /** The minion's random token, encrypted with the master's public key (OAEP). */
  readonly token?: Buffer
  readonly autosignGrains?: Readonly<Record<string, unknown>>
  /** Proof that the minion has a join token. An addition of salt-ts, which Python masters ignore. */
  readonly joinProof?: { readonly invite: string; readonly proof: string }
}

/** `<id of the invitation>.<HMAC>`, both hex. */
const JOIN_PROOF = /^([0-9a-f]{12})\.([0-9a-f]{64})$/

export function makeSignIn(request: SignInRequest): Record<string, unknown> {
  return {
    cmd: '_auth',
    id: request.id,
    nonce: request.nonce,
    enc_algo: request.algorithms.encryption,
    sig_algo: request.algorithms.signing,
    autosign_grains: request.autosignGrains,
    token: request.token,
    pub: request.pub,
    join_proof: request.joinProof && `${request.joinProof.invite}.${request.joinProof.proof}`,
  }
}

/** A malformed sign-in load. An unknown algorithm has a separate reply (wire protocol §6.3). */
export type BadSignIn = { readonly wrong: 'load' | 'bad enc algo' | 'bad sig algo'; readonly reason: string }

const MAX_NONCE = 128
const MAX_PEM = 16 * 1024

/** Read and check a sign-in load. The size of every field is limited. */
export function readSignIn(load: Readonly<Record<string, unknown>>): SignInRequest | BadSignIn {
  const id = asText(load.id, 1024)
  const nonce = asText(load.nonce, MAX_NONCE)
  const pub = asText(load.pub, MAX_PEM)
  if (id === undefined) return { wrong: 'load', reason: 'the id is missing or not text' }
  if (!nonce) return { wrong: 'load', reason: 'the nonce is missing or not text' }
  if (pub === undefined) return { wrong: 'load', reason: 'the public key is missing, too long or not text' }
  const algorithms = readAlgorithms(load)
  if (!algorithms) return badAlgorithm(load)
  const token = load.token === undefined ? undefined : asBytes(load.token)
  const grains = load.autosign_grains
  const [, invite, proof] = JOIN_PROOF.exec(asText(load.join_proof, 128) ?? '') ?? []
  return {
    id,
    nonce,
    pub,
    algorithms,
    ...(token && { token }),
    ...(typeof grains === 'object' &&
      grains !== null && { autosignGrains: grains as Record<string, unknown> }),
    ...(invite && proof && { joinProof: { invite, proof } }),
  }
}

function badAlgorithm(load: Readonly<Record<string, unknown>>): BadSignIn {
  const encryption = readAlgorithms({ enc_algo: load.enc_algo })
  return encryption
    ? { wrong: 'bad sig algo', reason: 'the signing algorithm is unknown' }
    : { wrong: 'bad enc algo', reason: 'the encryption algorithm is unknown' }
}

/** The inner map of an accepting reply, in the order of Salt's masters (wire protocol §6.3). */
export interface AcceptedSignIn {
  readonly pubKey: string
  readonly publishPort: number
  readonly pubSig?: string
  readonly token?: Buffer
  readonly aes: Buffer
  readonly session?: Buffer
  /** Name of the master, if several serve a minion over one connection (docs/wire-additions.md). */
  readonly master?: string | undefined
  readonly sig: Buffer
  /** Whether the master has filed the key just now (docs/wire-additions.md). */
  readonly isNew?: boolean
}

/** Results other than acceptance: `true` for a pending key, `false` for a refused one, `'full'` for too many minions. */
export type SignInRet = true | false | 'full'

export function makeAcceptance(fields: AcceptedSignIn, nonce: string): Record<string, unknown> {
  return {
    enc: 'pub',
    pub_key: fields.pubKey,
    publish_port: fields.publishPort,
    pub_sig: fields.pubSig,
    token: fields.token,
    aes: fields.aes,
    session: fields.session,
    ...(fields.master !== undefined && { master: fields.master }),
    sig: fields.sig,
    nonce,
    ...(fields.isNew && { new: true }),
  }
}

/** Pack a reply: the bytes of the inner map, signed with the master's key. */
export function packSignedReply(
  inner: Readonly<Record<string, unknown>>,
  key: PrivateKey,
  algorithms: Algorithms,
): Buffer {
  const load = encodeNetwork(inner)
  return encodeNetwork({ enc: 'clear', load, sig: key.sign(load, algorithms.signing) })
}

/** Pack the unsigned reply to unknown algorithm names. */
export function packUnsignedReply(ret: string): Buffer {
  return encodeNetwork({ enc: 'clear', load: { ret } })
}
