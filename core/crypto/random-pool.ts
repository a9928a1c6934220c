import { randomFillSync } from 'node:crypto'

const POOL_BYTES = 4096

const pool = Buffer.allocUnsafeSlow(POOL_BYTES)
let used = POOL_BYTES

/**
 * Return random bytes, at most 4096, from the system's secure generator. It is asked for many at once, since each call takes
 * microseconds. The bytes are valid until the next call, and are not given again.
 */
export function pooledRandomBytes(size: number): Uint8Array {
  if (used + size > POOL_BYTES) {
    randomFillSync(pool)
    used = 0
  }
  used += size
  return pool.subarray(used - size, used)
}
