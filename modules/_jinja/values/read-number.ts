/** Reads numbers from texts, as Python does. */
import { float, shrunk } from './numbers.ts'

/** Longer integers are none, as in Python. */
const MAX_DIGITS = 4300

const bases: Readonly<Record<string, number>> = { '0x': 16, '0o': 8, '0b': 2 }

/** Read an integer; undefined if the text is none. With base 0 the prefix of the text says the base. */
export function readInteger(text: string, base = 10): number | bigint | undefined {
  const [, sign, shown = ''] = /^\s*([-+]?)(\w+)\s*$/.exec(text.toLowerCase()) ?? []
  const baseOfPrefix = bases[shown.slice(0, 2)]
  const hasPrefix = baseOfPrefix !== undefined && (base === 0 || base === baseOfPrefix)
  if (base === 0)
    return hasPrefix || !/^0[0_]*[1-9]/.test(shown) ? readInteger(text, baseOfPrefix ?? 10) : undefined
  if (base < 2 || base > 36) return undefined
  const groups = (hasPrefix ? shown.slice(2).replace(/^_/, '') : shown).split('_')
  const digits = groups.join('')
  if (groups.includes('') || digits.length > MAX_DIGITS) return undefined
  let value = 0n
  for (const digit of digits) {
    const each = Number.parseInt(digit, 36)
    if (each >= base) return undefined
    value = value * BigInt(base) + BigInt(each)
  }
  return shrunk(sign === '-' ? -value : value)
}

/** Read a float; undefined if the text is none. */
export function readFloat(text: string): number | undefined {
  const shown = text.trim().replaceAll(/(?<=\d)_(?=\d)/g, '')
  if (/^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?$/i.test(shown)) return Number(shown)
  const [, sign, word] = /^([-+]?)(inf|infinity|nan)$/i.exec(shown) ?? []
  if (word === undefined) return undefined
  if (word.toLowerCase() === 'nan') return Number.NaN
  return sign === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
}

/** The number of a literal of a template. */
export function numberFrom(text: string, isFloat: boolean): unknown {
  if (isFloat) return float(Number(text))
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : BigInt(text)
}
