/** Messages that are none: the same ones in every run. */
import type { Random } from './random.ts'

export const noise = (random: Random): Buffer =>
  Buffer.from(Array.from({ length: random.below(600) }, () => random.below(256)))

/** A few bytes replaced, and maybe cut off. */
export function damaged(whole: Buffer, random: Random): Buffer {
  const copy = Buffer.from(whole)
  for (let n = random.below(6) + 1; n > 0; n--) copy[random.below(copy.length)] = random.below(256)
  return random.below(4) ? copy : copy.subarray(0, random.below(copy.length))
}
