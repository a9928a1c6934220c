/** Formats numbers and texts as the format specifications of Python do. */
import { isMapping } from '../../_values/traverse.ts'
import { TemplateError } from '../errors.ts'
import { float, isFloat, isNumber } from './numbers.ts'
import { typeOf } from './objects.ts'
import { text } from './text.ts'

export interface Spec {
  readonly fill: string
  readonly align: string
  readonly sign: string
  readonly isAlternate: boolean
  readonly width: number
  readonly grouping: string
  readonly precision: number | undefined
  readonly type: string
}

const SPEC = /^(?:([\s\S])?([<>=^]))?([-+ ])?(#)?(0)?(\d+)?([,_])?(?:\.(\d+))?([a-zA-Z%])?$/u
/** Widths and precisions beyond this are refused. */
const MAX_WIDTH = 10_000

/** Format a value by a specification such as `>8.2f`. @throws TemplateError */
export function formatBySpec(value: unknown, spec: string): string {
  if (spec === '') return text(value)
  const match = SPEC.exec(spec)
  if (!match) throw new TemplateError(`Invalid format specifier '${spec}'`)
  const [, fill, align, sign = '', alternate, zero, width, grouping = '', precision, type = ''] = match
  return format(value, {
    fill: fill ?? (zero ? '0' : ' '),
    align: align ?? (zero ? '=' : ''),
    sign,
    isAlternate: alternate !== undefined,
    width: bounded(Number(width ?? '0')),
    grouping,
    precision: precision === undefined ? undefined : bounded(Number(precision)),
    type,
  })
}

export function bounded(number: number): number {
  if (Math.abs(number) > MAX_WIDTH)
    throw new TemplateError(`a width or precision above ${MAX_WIDTH} is refused`)
  return number
}

/** @throws TemplateError if the type does not fit the value */
export function format(value: unknown, spec: Spec): string {
  if (isNumber(value) && spec.type !== 's') return padded(numberText(value, spec), spec, '>')
  if (value === null || Array.isArray(value) || isMapping(value))
    throw new TemplateError(`unsupported format string passed to ${typeOf(value)}.__format__`)
  if (isNumber(value) || (spec.type !== '' && spec.type !== 's'))
    throw new TemplateError(`Unknown format code '${spec.type}' for object of type '${typeOf(value)}'`)
  if (spec.grouping !== '') throw new TemplateError(`Cannot specify '${spec.grouping}' with 's'.`)
  const whole = text(value)
  return padded(
    spec.precision === undefined ? whole : [...whole].slice(0, spec.precision).join(''),
    spec,
    '<',
  )
}

function padded(shown: string, { fill, align, width }: Spec, usual: string): string {
  const missing = Math.max(width - [...shown].length, 0)
  switch (align || usual) {
    case '<':
      return shown + fill.repeat(missing)
    case '^':
      return fill.repeat(Math.floor(missing / 2)) + shown + fill.repeat(Math.ceil(missing / 2))
    case '=': {
      const [, sign = '', digits = ''] = /^([-+ ]?(?:0[xob])?)(.*)$/is.exec(shown) ?? []
      return sign + fill.repeat(missing) + digits
    }
    default:
      return fill.repeat(missing) + shown
  }
}

const bases: Readonly<Record<string, number>> = { x: 16, X: 16, o: 8, b: 2 }

function numberText(value: unknown, spec: Spec): string {
  const { type } = spec
  if (type in bases || type === 'd' || type === 'c' || (type === '' && !isFloat(value)))
    return integerText(value, spec)
  if (!isFloat(value) && !'eEfFgGn%'.includes(type))
    throw new TemplateError(`Unknown format code '${type}' for object of type 'int'`)
  const number = Number(value)
  const magnitude = Math.abs(number)
  const isNegative = number < 0 || Object.is(number, -0)
  return withSign(grouped(floatDigits(magnitude, spec), spec.grouping), isNegative, spec)
}

function integerText(value: unknown, spec: Spec): string {
  if (isFloat(value)) throw new TemplateError(`Unknown format code '${spec.type}' for object of type 'float'`)
  if (spec.precision !== undefined)
    throw new TemplateError('Precision not allowed in integer format specifier')
  const whole = BigInt(value as number | bigint | boolean)
  if (spec.type === 'c') return characterOf(Number(whole))
  const base = bases[spec.type] ?? 10
  const digits = (whole < 0n ? -whole : whole).toString(base)
  const prefix = spec.isAlternate && base !== 10 ? `0${spec.type}` : ''
  const shown = spec.type === 'X' ? digits.toUpperCase() : digits
  return withSign(prefix + grouped(shown, spec.grouping, base === 10 ? 3 : 4), whole < 0n, spec)
}

/** @throws TemplateError if there is no such character */
export function characterOf(code: number): string {
  if (code < 0 || code > 0x10ffff) throw new TemplateError('%c arg not in range(0x110000)')
  return String.fromCodePoint(code)
}

const withSign = (digits: string, isNegative: boolean, { sign }: Spec): string =>
  (isNegative ? '-' : sign === '-' ? '' : sign) + digits

function grouped(digits: string, separator: string, size = 3): string {
  if (separator === '') return digits
  const [whole = '', ...rest] = digits.split('.')
  const groups = whole.replaceAll(new RegExp(`\\B(?=(?:[\\da-f]{${size}})+$)`, 'gi'), separator)
  return [groups, ...rest].join('.')
}

function floatDigits(magnitude: number, { type, precision, isAlternate }: Spec): string {
  if (!Number.isFinite(magnitude)) return Number.isNaN(magnitude) ? 'nan' : 'inf'
  switch (type) {
    case 'f':
    case 'F':
      return fixed(magnitude, precision ?? 6)
    case '%':
      return `${fixed(magnitude * 100, precision ?? 6)}%`
    case 'e':
    case 'E': {
      const shown = exponent(magnitude, precision ?? 6)
      return type === 'E' ? shown.toUpperCase() : shown
    }
    case '':
      if (precision === undefined) return text(float(magnitude))
      return general(magnitude, precision, isAlternate)
    case 'g':
    case 'G':
    case 'n': {
      const shown = general(magnitude, precision ?? 6, isAlternate)
      return type === 'G' ? shown.toUpperCase() : shown
    }
  }
  throw new TemplateError(`Unknown format code '${type}' for object of type 'float'`)
}

/** Format with a number of digits behind the point. JavaScript formats at most 100, and numbers from 1e21 on otherwise. */
export function fixed(magnitude: number, digits: number): string {
  if (!Number.isFinite(magnitude)) return String(magnitude)
  if (magnitude >= 1e21) return `${BigInt(magnitude)}${digits > 0 ? `.${'0'.repeat(digits)}` : ''}`
  if (digits >= 100) return magnitude.toFixed(100) + '0'.repeat(digits - 100)
  return evenHalf(magnitude, digits) ?? magnitude.toFixed(digits)
}

/** What lies in the middle between two numbers of so many digits is rounded to the even one, as in Python. */
function evenHalf(magnitude: number, digits: number): string | undefined {
  const exact = magnitude.toFixed(100)
  const end = exact.length - 100 + digits
  if (!/^50*$/.test(exact.slice(end))) return undefined
  const below = exact.slice(0, end).replace(/\.$/, '')
  return /[02468]$/.test(below) ? below : undefined
}

const exponent = (magnitude: number, digits: number): string =>
  magnitude.toExponential(Math.min(digits, 100)).replace(/e([-+])(\d)$/, 'e$10$2')

function general(magnitude: number, precision: number, keepsZeros: boolean): string {
  const digits = Math.min(Math.max(precision, 1), 100)
  const power = magnitude === 0 ? 0 : Number(/e(.*)$/.exec(magnitude.toExponential(digits - 1))?.[1])
  const isFixed = power >= -4 && power < digits
  const shown = isFixed ? fixed(magnitude, digits - 1 - power) : exponent(magnitude, digits - 1)
  return keepsZeros || !shown.includes('.') ? shown : shown.replace(/\.?0+(?=e|$)/, '')
}
