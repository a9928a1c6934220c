import { createHash, createHmac, randomBytes } from 'node:crypto'
import { SaltError } from '../base/errors.ts'
import { fingerprint, type PublicKey } from '../crypto/index.ts'

/**
 * A token that lets a new minion's key be accepted without a person. The secret never crosses the network: the minion
 * proves that it holds the secret, for its own key only.
 */
export interface JoinToken {
  readonly secret: string
  /** SHA-256 fingerprint of the master's key, in hex. A minion without a known master key then trusts no other. */
  readonly master?: string
}

/** Why a join token was refused. Only the token's holder gets the reason; everybody else gets `unknown`. */
export const joinRefusalTexts = {
  unknown: 'is not known here (wrong, revoked, or of another master)',
  expired: 'has expired',
  used: 'was used before',
  mismatch: 'is for minions with other ids',
} as const

export type JoinRefusal = keyof typeof joinRefusalTexts

export const isJoinRefusal = (value: unknown): value is JoinRefusal =>
  typeof value === 'string' && Object.hasOwn(joinRefusalTexts, value)

const SECRET_BYTES = 24
const FORM = new RegExp(`^([0-9a-f]{${SECRET_BYTES * 2}})(?:\\.([0-9a-f]{64}))?$`)

export function newJoinToken(master: PublicKey): Required<JoinToken> {
  return { secret: randomBytes(SECRET_BYTES).toString('hex'), master: plainFingerprint(master) }
}

export const joinTokenText = ({ secret, master }: JoinToken): string =>
  master === undefined ? secret : `${secret}.${master}`

/** Parse a join token. @throws SaltError CONFIG_INVALID, whose message contains nothing of the text */
export function parseJoinToken(text: string): JoinToken {
  const [, secret, master] = FORM.exec(text.trim()) ?? []
  if (secret) return { secret, ...(master && { master }) }
  throw new SaltError(
    'CONFIG_INVALID',
    'The join token is not one that "salt-key --invite" prints: it has been cut off or changed.',
  )
}

/**
 * Return the SHA-256 fingerprint of a key as join tokens hold it: that of `salt-key -f` with `hash_type: sha256`,
 * without colons.
 */
export const plainFingerprint = (key: PublicKey): string => fingerprint(key.pem, 'sha256').replaceAll(':', '')

/** Return the id of an invitation, which reveals nothing about its secret. */
export const inviteIdOf = (secret: string): string => digest('id', secret).slice(0, 12)

/** Return the hash of a secret that the master stores and checks proofs with. The secret cannot be derived from it. */
export const verifierOf = (secret: string): string => digest('verifier', secret)

/** The data that a proof covers: it is valid for no other key and no other id. */
export interface JoinClaim {
  readonly id: string
  /** PEM text of the public key in the sign-in. */
  readonly pub: string
  /** Nonce of the sign-in. */
  readonly nonce: string
}

/** Return the HMAC-SHA-256 of the claim, in hex. */
export function joinProof(verifier: string, { id, pub, nonce }: JoinClaim): string {
  const claim = JSON.stringify(['salt-ts join', id, nonce, pub])
  return createHmac('sha256', verifier).update(claim).digest('hex')
}

const digest = (use: string, secret: string): string =>
  createHash('sha256').update(`salt-ts join ${use}\0${secret}`).digest('hex')
