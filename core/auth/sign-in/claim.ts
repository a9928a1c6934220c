import { createHmac, randomBytes } from 'node:crypto'

/** The user somebody claims to be, and a digest of the proof. */
export interface Claim {
  readonly username?: string
  /** Stands for what is claimed, without telling it. */
  readonly digest: string
}

/** A key of this process alone: outside of it, a digest does not tell whether a guess was right. */
const OWN_KEY = randomBytes(32)

export const digestOf = (secret: string): string =>
  createHmac('sha256', OWN_KEY).update(secret).digest('base64')

/** Backends may take names for the same that are written otherwise. */
export const accountOf = (username: string): string =>
  username.slice(0, 256).normalize('NFKC').trim().toLowerCase()
