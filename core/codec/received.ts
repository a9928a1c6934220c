import { decode } from './decoder.ts'
import { encodeLocal } from './encoder.ts'
import { refuseUnencodable } from './unencodable.ts'
import type { Value } from './values.ts'

/**
 * Return a value as its receiver decodes it, so that a function's result is the same wherever it runs. `name` is the name
 * of the value in error messages.
 * @throws SaltError ENCODE_FAILED; DECODE_FAILED if the value exceeds the limits of a message
 */
export function asReceived(value: unknown, name: string): Value {
  refuseUnencodable(value, name)
  return decode(encodeLocal(value))
}
