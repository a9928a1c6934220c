/** Random numbers that are the same again for the same seed (mulberry32). */
export class Random {
  #state: number

  /** `name` gives several users of one seed different numbers. */
  constructor(seed: number, name = '') {
    this.#state = [...name].reduce(
      (sum, letter) => Math.imul(sum ^ letter.charCodeAt(0), 0x01000193),
      seed | 0,
    )
  }

  /** From 0 to 1, without 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** An integer from 0 up to, but without, `end`. */
  below(end: number): number {
    return Math.floor(this.next() * end)
  }

  /** An integer, both ends included. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1)
  }

  oneIn(count: number): boolean {
    return this.below(count) === 0
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T
  }

  /** A place in a sequence of this length: a start, and an end that is often near. */
  span(length: number): readonly [start: number, end: number] {
    const start = this.below(length + 1)
    const most = this.oneIn(4) ? length : 8
    return [start, Math.min(length, start + this.below(most + 1))]
  }
}
