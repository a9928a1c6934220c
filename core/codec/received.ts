import { decode } from './decoder.ts'
import { encodeLocal } from './encoder.ts'
import { refuseUnencodable } from './unencodable.ts'
import type { Value } from './values.ts'

/**
 * The value as who receives it reads it: what a function gives is this wherever it runs. `name` is what the value is
 * called in the sentence of the error.
 * @throws SaltError ENCODE_FAILED, DECODE_FAILED for more than a message may hold.
 */
export function asReceived(value: unknown, name: string): Value {
  refuseUnencodable(value, name)
  return decode(encodeLocal(value))
}
