/** Random numbers that are the same again for the same seed (mulberry32). */
export class Random {
  #state: number

  /** `name` gives the scenarios of one seed different numbers. */
  constructor(seed: number, name: string) {
    this.#state = [...name].reduce((sum, letter) => Math.imul(sum ^ letter.charCodeAt(0), 0x01000193), seed)
  }

  /** From 0 to 1, without 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number, both ends included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1))
  }

  pick<T>(from: readonly T[]): T {
    return from[this.between(0, from.length - 1)] as T
  }
}
