/** Formats texts by `%`, as Python does. */
import { Float } from '#internal'
import { pythonAscii, pythonRepr } from '../../_values/python.ts'
import { isMapping } from '../../_values/traverse.ts'
import { Tuple } from '../../_values/tuple.ts'
import { TemplateError } from '../errors.ts'
import { getKey, hasKey } from './dicts.ts'
import { bounded, characterOf, format, type Spec } from './format-spec.ts'
import { integer, isFloat, isNumber, type Num } from './numbers.ts'
import { typeOf } from './objects.ts'
import { text } from './text.ts'

const PLACE = /%(?:\(([^)]*)\))?([-+ #0]*)(\*|\d+)?(?:\.(\*|\d+)?)?([a-zA-Z%])?/g

/** Replace the places `%s`, `%(name)s`, `%5.2f`, … of a text. @throws TemplateError */
export function formatPercent(template: string, values: unknown): string {
  const rest = values instanceof Tuple ? [...values] : [values]
  const isMapped = isMapping(values)
  let used = 0
  const next = () => {
    if (used >= rest.length) throw new TemplateError('not enough arguments for format string')
    return rest[used++]
  }
  const width = (digits: string | undefined) =>
    digits === '*' ? bounded(integer(next())) : bounded(Number(digits ?? '0'))
  const shown = template.replaceAll(
    PLACE,
    (place, key: string | undefined, flags: string, wide: string, precision: string, type: string) => {
      if (type === '%') return '%'
      if (type === undefined) throw new TemplateError('incomplete format')
      const columns = width(wide)
      const digits = place.includes('.') ? width(precision) : undefined
      const value = key === undefined ? next() : named(values, key)
      return formatPlace(value, {
        type,
        flags,
        columns: Math.abs(columns),
        digits,
        isLeft: flags.includes('-') || columns < 0,
      })
    },
  )
  if (used < rest.length && !isMapped)
    throw new TemplateError('not all arguments converted during string formatting')
  return shown
}

function named(values: unknown, key: string): unknown {
  if (!isMapping(values)) throw new TemplateError('format requires a mapping')
  if (!hasKey(values, key)) throw new TemplateError(`KeyError: '${key}'`)
  return getKey(values, key)
}

interface Place {
  readonly type: string
  readonly flags: string
  readonly columns: number
  readonly digits: number | undefined
  readonly isLeft: boolean
}

function formatPlace(value: unknown, place: Place): string {
  const { type } = place
  const spec = specOf(place)
  if (type === 's') return format(text(value), spec)
  if (type === 'r') return format(pythonRepr(value), { ...spec, type: 's' })
  if (type === 'a') return format(pythonAscii(value), { ...spec, type: 's' })
  if (type === 'c') {
    const shown = typeof value === 'string' ? value : characterOf(integer(value))
    return format(shown, { ...spec, type: 's' })
  }
  if (!isNumber(value))
    throw new TemplateError(`%${type} format: a real number is required, not ${typeOf(value)}`)
  if ('diuoxX'.includes(type)) return format(wholeOf(value, type), { ...spec, precision: undefined })
  if ('eEfFgG'.includes(type)) return format(new Float(Number(value)), spec)
  throw new TemplateError(`unsupported format character '${type}'`)
}

function specOf({ type, flags, columns, digits, isLeft }: Place): Spec {
  const isZero = !isLeft && !'sra'.includes(type) && flags.includes('0')
  return {
    fill: isZero ? '0' : ' ',
    align: isLeft ? '<' : isZero ? '=' : '>',
    sign: flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : '',
    isAlternate: flags.includes('#'),
    width: columns,
    grouping: '',
    precision: digits,
    type: type === 'i' || type === 'u' ? 'd' : type,
  }
}

/** `%d` cuts the digits behind the point of a float off. */
function wholeOf(value: Num, type: string): bigint {
  if (!isFloat(value)) return BigInt(value.valueOf())
  if ('diu'.includes(type)) return BigInt(Math.trunc(Number(value)))
  throw new TemplateError(`%${type} format: an integer is required, not float`)
}
