/** The filters that Salt adds for texts, and for what they say: numbers, dates, paths. */
import { posix } from 'node:path'
import { strftime } from '#internal'
import { quoted } from '../../_slsutil/serializers.ts'
import { isMapping, traverse } from '../../_values/traverse.ts'
import { Tuple } from '../../_values/tuple.ts'
import type { Filter } from '../environment.ts'
import { TemplateError } from '../errors.ts'
import { bind, REQUIRED, withoutArguments } from '../values/arguments.ts'
import { methodOf } from '../values/methods.ts'
import { float, isFloat, isNumber } from '../values/numbers.ts'
import type { CallArguments } from '../values/objects.ts'
import { readFloat, readInteger } from '../values/read-number.ts'
import { isTrue, lengthOf } from '../values/sequences.ts'
import { strictText, text } from '../values/text.ts'
import { capitalized } from '../values/text-methods.ts'
import { onText } from './on-text.ts'

export const saltTextFilters: Readonly<Record<string, Filter>> = {
  quote: onText(quoted),
  to_bool: withoutArguments(toBoolean),
  to_num: withoutArguments(toNumber),
  str_to_num: withoutArguments(toNumber),
  is_hex: withoutArguments(
    (value) => typeof value === 'string' && /^\s*[-+]?(?:0x)?[\da-f]+\s*$/i.test(value),
  ),
  contains_whitespace: onText((shown) => /\s/.test(shown)),
  human_to_bytes(value, given) {
    const { default_unit, handle_metric } = bind({ default_unit: 'B', handle_metric: false }, given)
    return bytesOfHuman(text(value), text(default_unit), isTrue(handle_metric))
  },
  to_snake_case: onText(snakeCase),
  to_camelcase(value, given) {
    const { uppercamel } = bind({ uppercamel: false }, given)
    const [first = '', ...rest] = strictText(value).split('_')
    return [isTrue(uppercamel) ? capitalized(first) : first, ...rest.map(capitalized)].join('')
  },
  strftime: formatDate,
  date_format: formatDate,
  path_join: (value, { args }) => posix.join(text(value), ...args.map(text)),
  skip: withoutArguments(() => ''),
  method_call(value, { args, kwargs }) {
    const [name, ...rest] = args
    return methodOf(value, text(name))?.call({ args: rest, kwargs }) ?? null
  },
  traverse(value, given) {
    const {
      key,
      default: fallback,
      delimiter,
    } = bind({ key: REQUIRED, default: null, delimiter: ':' }, given)
    return traverse(value, text(key), fallback, text(delimiter))
  },
}

function toBoolean(value: unknown): boolean {
  if (value === null) return false
  if (typeof value === 'boolean') return value
  if (typeof value === 'string') return ['yes', '1', 'true'].includes(value.toLowerCase())
  if (isNumber(value)) return !isFloat(value) && Number(value) > 0
  return (isMapping(value) || (Array.isArray(value) && !(value instanceof Tuple))) && lengthOf(value) > 0
}

/** Read a text that is a number; other values stay as they are. */
export function toNumber(value: unknown): unknown {
  if (typeof value !== 'string') return value
  const whole = readInteger(value)
  if (whole !== undefined) return whole
  const number = readFloat(value)
  return number === undefined ? value : float(number)
}

const UNITS = 'BKMGTPEZY'

function bytesOfHuman(shown: string, unit: string, isMetric: boolean): number {
  const [, digits = '', ownUnit = ''] = /^([\d.]*)\s*(.*)$/.exec(shown.trim()) ?? []
  const value = Number(digits)
  if (digits === '' || !Number.isFinite(value)) return 0
  const name = (ownUnit || unit).toUpperCase()
  const [, letter = '', rest = ''] = /^([A-Z])(.*)$/.exec(name) ?? []
  const power = UNITS.indexOf(letter)
  if (power < 0 || !['', 'B', 'IB'].includes(rest)) return 0
  return Math.trunc(value * (isMetric && rest === 'B' ? 1000 : 1024) ** power)
}

function snakeCase(shown: string): string {
  const isUpper = (each = '') => each !== each.toLowerCase()
  const isLower = (each = '') => each !== each.toUpperCase()
  return [...shown]
    .map((each, at) => {
      const begins = isUpper(each) && at > 0 && (isLower(shown[at - 1]) || isLower(shown[at + 1]))
      return (begins ? '_' : '') + each.toLowerCase()
    })
    .join('')
}

/** Dates are seconds, or text as JavaScript reads it. */
function formatDate(value: unknown, given: CallArguments): string {
  const { format } = bind({ format: '%Y-%m-%d' }, given)
  const isSeconds = isNumber(value) || /^\d+(?:\.\d+)?$/.test(text(value))
  const date = isSeconds
    ? new Date(Number(value) * 1000)
    : new Date(text(value).replace(/^(\d{4}-\d\d-\d\d)$/, '$1T00:00'))
  if (Number.isNaN(date.getTime())) throw new TemplateError(`Unable to parse the date '${text(value)}'`)
  return strftime(text(format), date)
}
