/** A tuple of Python. Make it by `Tuple.of` or `Tuple.from`. */
export class Tuple extends Array<unknown> {
  /** What is derived from a tuple, by `map` or `filter`, is a list. */
  static override get [Symbol.species](): ArrayConstructor {
    return Array
  }
}
