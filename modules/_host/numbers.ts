/** Return a number that is sent as a float even if it is whole, as Python's floats are. */
export const float = (value: number): unknown => (Number.isInteger(value) ? new Number(value) : value)

/** Read a number as Salt's status module does: digits are an integer, other numbers a float, the rest stays text. */
export function numberOrText(text: string): unknown {
  if (/^\d+$/.test(text)) {
    const integer = Number(text)
    return Number.isSafeInteger(integer) ? integer : BigInt(text)
  }
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? float(Number(text)) : text
}

/** Round to a number of decimal places. */
export const rounded = (value: number, places: number): number => Number(value.toFixed(places))
