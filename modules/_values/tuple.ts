/** A tuple of Python. Make it by `Tuple.of` or `Tuple.from`. */
export class Tuple extends Array<unknown> {
  /** Makes `map` and `filter` of a tuple return a list. */
  static override get [Symbol.species](): ArrayConstructor {
    return Array
  }
}
