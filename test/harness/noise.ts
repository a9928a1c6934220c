/** Messages that are none: the same ones in every run. */

/** mulberry32: whole numbers from 0 up to, not including, `below`. */
export function generator(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

type Random = ReturnType<typeof generator>

export const noise = (random: Random): Buffer =>
  Buffer.from(Array.from({ length: random(600) }, () => random(256)))

/** A few bytes replaced, and maybe cut off. */
export function damaged(whole: Buffer, random: Random): Buffer {
  const copy = Buffer.from(whole)
  for (let n = random(6) + 1; n > 0; n--) copy[random(copy.length)] = random(256)
  return random(4) ? copy : copy.subarray(0, random(copy.length))
}
