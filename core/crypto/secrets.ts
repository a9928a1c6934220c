import { createHash, randomUUID, timingSafeEqual } from 'node:crypto'

/** 32 lower-case hex characters, new on every call. */
export function newNonce(): string {
  return randomUUID().replaceAll('-', '')
}

/** Compares in a time that tells nothing about where the two differ, nor about their lengths. */
export function secretsEqual(a: string, b: string): boolean {
  return timingSafeEqual(sha256(a), sha256(b))
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
