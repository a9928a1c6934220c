import { createHmac, randomBytes } from 'node:crypto'

/** The user name that a client claims, and a digest of the proof. */
export interface Claim {
  readonly username?: string
  /** Identifies the claim without revealing it. */
  readonly digest: string
}

/** A key of this process, so that a digest is useless for checking guesses elsewhere. */
const OWN_KEY = randomBytes(32)

export const digestOf = (secret: string): string =>
  createHmac('sha256', OWN_KEY).update(secret).digest('base64')

/** Normalize a user name: backends may accept several spellings of one name. */
export const accountOf = (username: string): string =>
  username.slice(0, 256).normalize('NFKC').trim().toLowerCase()
