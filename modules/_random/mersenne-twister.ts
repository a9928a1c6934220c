/** Random numbers that depend only on a seed, the same as those of Python's `random` module. */
import { createHash } from 'node:crypto'
import { CommandExecutionError } from 'salt-ts'

const SIZE = 624
const SHIFT = 397
const UPPER = 0x80000000
const LOWER = 0x7fffffff
const MATRIX = 0x9908b0df

/** The Mersenne Twister MT19937, which Python seeds by `init_by_array`. */
export class MersenneTwister {
  readonly #state = new Uint32Array(SIZE)
  #next = SIZE

  constructor(seed: string | number | bigint) {
    this.#fill(wordsOf(typeof seed === 'string' ? textSeed(seed) : absolute(BigInt(seed))))
  }

  /** Return an integer from 0 to `limit - 1` (Python's `_randbelow`). */
  below(limit: number): number {
    const bits = limit.toString(2).length
    for (;;) {
      const candidate = this.#bits(bits)
      if (candidate < limit) return candidate
    }
  }

  /** Return a sample without repetition (Python's `sample`). */
  sample<T>(population: readonly T[], size: number): T[] {
    return population.length > poolLimit(size)
      ? this.#sampleOfMany(population, size)
      : this.#sampleOfFew(population, size)
  }

  #sampleOfFew<T>(population: readonly T[], size: number): T[] {
    const pool = [...population]
    return Array.from({ length: size }, (_, taken) => {
      const at = this.below(pool.length - taken)
      const picked = pool[at] as T
      pool[at] = pool[pool.length - taken - 1] as T
      return picked
    })
  }

  #sampleOfMany<T>(population: readonly T[], size: number): T[] {
    const picked = new Set<number>()
    while (picked.size < size) picked.add(this.below(population.length))
    return [...picked].map((at) => population[at] as T)
  }

  #bits(count: number): number {
    if (count <= 32) return this.#word() >>> (32 - count)
    const low = this.#word()
    return (this.#word() >>> (64 - count)) * 2 ** 32 + low
  }

  #word(): number {
    if (this.#next === SIZE) this.#twist()
    let word = this.#state[this.#next++] as number
    word ^= word >>> 11
    word ^= (word << 7) & 0x9d2c5680
    word ^= (word << 15) & 0xefc60000
    return (word ^ (word >>> 18)) >>> 0
  }

  #twist(): void {
    for (let at = 0; at < SIZE; at++) {
      const mixed = (this.#at(at) & UPPER) | (this.#at(at + 1) & LOWER)
      this.#state[at] = this.#at(at + SHIFT) ^ (mixed >>> 1) ^ (mixed & 1 ? MATRIX : 0)
    }
    this.#next = 0
  }

  #at(index: number): number {
    return this.#state[index % SIZE] as number
  }

  #fill(key: readonly number[]): void {
    const state = this.#state
    state[0] = 19650218
    for (let at = 1; at < SIZE; at++) state[at] = Math.imul(1812433253, this.#folded(at)) + at
    let at = 1
    for (let step = 0; step < Math.max(SIZE, key.length); step++) {
      const from = step % key.length
      state[at] = (this.#at(at) ^ Math.imul(this.#folded(at), 1664525)) + (key[from] as number) + from
      at = this.#after(at)
    }
    for (let step = 1; step < SIZE; step++) {
      state[at] = (this.#at(at) ^ Math.imul(this.#folded(at), 1566083941)) - at
      at = this.#after(at)
    }
    state[0] = UPPER
  }

  #folded(at: number): number {
    const before = this.#at(at - 1)
    return before ^ (before >>> 30)
  }

  #after(at: number): number {
    if (at + 1 < SIZE) return at + 1
    this.#state[0] = this.#at(SIZE - 1)
    return 1
  }
}

/** Return the largest population of which Python copies all members to take a sample. */
const poolLimit = (size: number): number =>
  21 + (size > 5 ? 4 ** Math.ceil(Math.log(size * 3) / Math.log(4)) : 0)

function textSeed(text: string): bigint {
  const bytes = Buffer.from(text)
  return BigInt(`0x${Buffer.concat([bytes, createHash('sha512').update(bytes).digest()]).toString('hex')}`)
}

const absolute = (value: bigint): bigint => (value < 0n ? -value : value)

/** Return the 32-bit words of an integer, the lowest first. */
function wordsOf(value: bigint): number[] {
  const words: number[] = []
  for (let rest = value; rest > 0n; rest >>= 32n) words.push(Number(rest & 0xffffffffn))
  return words.length > 0 ? words : [0]
}

/** Return what a caller gave as a seed, as a value that Python would seed with. */
export function seedOf(given: unknown): string | number | bigint {
  if (typeof given === 'string' || typeof given === 'bigint') return given
  if (typeof given === 'boolean') return Number(given)
  if (Number.isSafeInteger(given)) return given as number
  throw new CommandExecutionError('A seed has to be text or an integer.')
}
