import { createHash, randomUUID, timingSafeEqual } from 'node:crypto'

/** Return a new random nonce of 32 lower-case hex characters. */
export function newNonce(): string {
  return randomUUID().replaceAll('-', '')
}

/** Compare two secrets in a time that does not depend on where they differ, nor on their lengths. */
export function secretsEqual(a: string, b: string): boolean {
  return timingSafeEqual(sha256(a), sha256(b))
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
