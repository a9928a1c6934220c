import { createHash, createHmac, randomBytes } from 'node:crypto'
import { SaltError } from '../base/errors.ts'
import { fingerprint, type PublicKey } from '../crypto/index.ts'

/**
 * What an administrator hands to a new minion so that its key is accepted without a person. The secret never goes over
 * the network: the minion proves with it, for its own key only, that it has it.
 */
export interface JoinToken {
  readonly secret: string
  /** Of the master's key: SHA-256, hex. A minion that knows no master yet trusts no other. */
  readonly master?: string
}

/** Why a join token is good for nothing, as told to its owner; `unknown` to everybody else. */
export const joinReasons = {
  unknown: 'is not known here (wrong, revoked, or of another master)',
  expired: 'has expired',
  used: 'was used before',
  mismatch: 'is for minions with other ids',
} as const

export type JoinRefusal = keyof typeof joinReasons

export const isJoinRefusal = (value: unknown): value is JoinRefusal =>
  typeof value === 'string' && Object.hasOwn(joinReasons, value)

const SECRET_BYTES = 24
const FORM = new RegExp(`^([0-9a-f]{${SECRET_BYTES * 2}})(?:\\.([0-9a-f]{64}))?$`)

export function newJoinToken(master: PublicKey): Required<JoinToken> {
  return { secret: randomBytes(SECRET_BYTES).toString('hex'), master: plainFingerprint(master) }
}

export const joinTokenText = ({ secret, master }: JoinToken): string =>
  master === undefined ? secret : `${secret}.${master}`

/** @throws SaltError CONFIG_INVALID; nothing of the text is in the message */
export function parseJoinToken(text: string): JoinToken {
  const [, secret, master] = FORM.exec(text.trim()) ?? []
  if (secret) return { secret, ...(master && { master }) }
  throw new SaltError(
    'CONFIG_INVALID',
    'The join token is not one that "salt-key --invite" prints: it has been cut off or changed.',
  )
}

/** SHA-256 of a key as in a join token: what `salt-key -f` shows with `hash_type: sha256`, without colons. */
export const plainFingerprint = (key: PublicKey): string => fingerprint(key.pem, 'sha256').replaceAll(':', '')

/** Tells one invitation from others, and nothing of its secret. */
export const inviteIdOf = (secret: string): string => digest('id', secret).slice(0, 12)

/** What the master keeps of a secret, and checks proofs with. The secret cannot be found from it. */
export const verifierOf = (secret: string): string => digest('verifier', secret)

/** What a proof is about: somebody else can use it neither for another key nor for another id. */
export interface JoinClaim {
  readonly id: string
  /** The public key, as it stands in the sign-in. */
  readonly pub: string
  /** Of the sign-in. */
  readonly nonce: string
}

/** HMAC-SHA-256 over the claim, hex. */
export function joinProof(verifier: string, { id, pub, nonce }: JoinClaim): string {
  const claim = JSON.stringify(['salt-ts join', id, nonce, pub])
  return createHmac('sha256', verifier).update(claim).digest('hex')
}

const digest = (use: string, secret: string): string =>
  createHash('sha256').update(`salt-ts join ${use}\0${secret}`).digest('hex')
