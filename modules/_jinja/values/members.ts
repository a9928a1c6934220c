import { isEqual } from './dicts.ts'
import { isFloat, isNumber } from './numbers.ts'

/** A set of values that are equal as in Python. Texts, numbers and None are found at once, others are compared one by one. */
export class Members {
  readonly #scalars = new Set<unknown>()
  readonly #others: unknown[] = []

  constructor(values: readonly unknown[] = []) {
    for (const value of values) this.add(value)
  }

  has(value: unknown): boolean {
    const key = scalarKey(value)
    return key === undefined ? this.#others.some((other) => isEqual(other, value)) : this.#scalars.has(key)
  }

  add(value: unknown): void {
    const key = scalarKey(value)
    if (key === undefined) this.#others.push(value)
    else this.#scalars.add(key)
  }
}

/** Return what is the same for equal texts and numbers: 1, 1.0 and True are one. */
function scalarKey(value: unknown): string | number | bigint | null | undefined {
  if (typeof value === 'string' || value === null) return value
  if (!isNumber(value)) return undefined
  const number = Number(value)
  if (Number.isNaN(number)) return undefined
  if (Number.isSafeInteger(number) || !Number.isInteger(number)) return number
  return isFloat(value) ? BigInt(number) : BigInt(value.valueOf())
}
