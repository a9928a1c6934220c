/** The filters that Salt adds for texts, hashes and regular expressions. */
import { createHash, createHmac, getHashes, randomBytes } from 'node:crypto'
import { posix } from 'node:path'
import { fnmatch, parseAddress, strftime } from '#internal'
import { quoted, serializerOf } from '../../_slsutil/serializers.ts'
import { doubleQuoted } from '../../_slsutil/yaml.ts'
import { pythonRepr } from '../../_values/python.ts'
import { isMapping, traverse } from '../../_values/traverse.ts'
import { Tuple } from '../../_values/tuple.ts'
import { parsedData } from '../data.ts'
import type { Filter } from '../environment.ts'
import { asTemplateError, TemplateError } from '../errors.ts'
import type { Format } from '../syntax/nodes.ts'
import { bind, REQUIRED, withoutArguments } from '../values/arguments.ts'
import { entries } from '../values/dicts.ts'
import { checkLength } from '../values/limits.ts'
import { methodOf } from '../values/methods.ts'
import { float, integer, isFloat, isNumber } from '../values/numbers.ts'
import { type CallArguments, typeOf, Undefined } from '../values/objects.ts'
import { readFloat, readInteger } from '../values/read-number.ts'
import { searchWith } from '../values/regex.ts'
import { elements, isTrue, lengthOf } from '../values/sequences.ts'
import { plain, strictText, text } from '../values/text.ts'
import { capitalized, encoded } from '../values/text-methods.ts'
import { sorted } from './sorting.ts'

const onText = (change: (shown: string) => unknown): Filter =>
  withoutArguments((value) => change(strictText(value)))

function bytesOf(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value
  if (typeof value === 'string') return Buffer.from(value)
  if (value instanceof Undefined) return value.use()
  throw new TemplateError(`expected str, bytes, or bytearray not <class '${typeOf(value)}'>`)
}
const hash = (name: string): Filter =>
  withoutArguments((value) => createHash(name).update(bytesOf(value)).digest('hex'))

function serialized(value: unknown, name: string, options: Readonly<Record<string, unknown>>): string {
  const shown = String(serializerOf(name).serialize(plain(value), options))
  return shown.trim().replace(/\n\.\.\.$/, '')
}

const loaded =
  (format: Format): Filter =>
  (value, given, environment) => {
    bind({}, given)
    return parsedData(strictText(value), format, environment)
  }

export const saltFilters: Readonly<Record<string, Filter>> = {
  yaml(value, given) {
    const { flow_style } = bind({ flow_style: true }, given)
    return serialized(value, 'yaml', { default_flow_style: isTrue(flow_style), allow_unicode: true })
  },
  json(value, given) {
    const { sort_keys, indent } = bind({ sort_keys: true, indent: null }, given)
    return serialized(value, 'json', { sort_keys: isTrue(sort_keys), indent, ensure_ascii: false })
  },
  tojson(value, given) {
    const { indent, sort_keys } = bind({ indent: null, sort_keys: false }, given)
    const options = { indent, sort_keys: isTrue(sort_keys), ensure_ascii: true }
    return String(serializerOf('json').serialize(plain(value), options)).replaceAll(
      /[<>&']/g,
      (each) => `\\u00${each.charCodeAt(0).toString(16)}`,
    )
  },
  python: withoutArguments((value) => pythonRepr(sorted(value))),
  dict_to_sls_yaml_params(value, given) {
    const { flow_style } = bind({ flow_style: false }, given)
    if (!isMapping(value)) throw new TemplateError('dict_to_sls_yaml_params takes a map')
    const list = entries(value).map(([key, inner]) => new Map([[key, inner]]))
    return serializerOf('yaml').serialize(plain(list), {
      default_flow_style: isTrue(flow_style),
      allow_unicode: true,
    })
  },
  load_yaml: loaded('yaml'),
  load_json: loaded('json'),
  load_text: loaded('text'),
  // Those of Salt take arguments about the encoding, which change nothing here.
  json_decode_dict: (value) => value,
  json_decode_list: (value) => value,
  json_encode_dict: (value) => value,
  json_encode_list: (value) => value,
  yaml_dquote: withoutArguments((value) => doubleQuoted(text(value))),
  yaml_squote: withoutArguments(
    (value) => `'${text(value).replaceAll("'", "''").replaceAll(/\n+/g, '$&\n')}'`,
  ),
  yaml_encode: withoutArguments((value) => {
    if (typeof value === 'string') return doubleQuoted(value)
    if (Array.isArray(value) || isMapping(value))
      throw new TemplateError('yaml_encode() only works with YAML scalar data')
    return serialized(value, 'yaml', {})
  }),
  quote: onText(quoted),
  regex_escape: onText((shown) => shown.replaceAll(/[\s\\^$.*+?()[\]{}|\-&~#]/g, '\\$&')),
  regex_search: (value, given) => groups(value, given, false),
  regex_match: (value, given) => groups(value, given, true),
  regex_replace(value, given) {
    const { val, ...pattern } = bind(
      { rgx: REQUIRED, val: REQUIRED, ignorecase: false, multiline: false },
      given,
    )
    return searchWith(pattern, (search) => search.replace(strictText(value), strictText(val)).text)
  },
  uuid: withoutArguments((value) => uuid5(bytesOf(value))),
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
  to_bytes(value, given) {
    const { encoding } = bind({ encoding: null, errors: 'strict' }, given)
    return encoding !== null && typeof value === 'string'
      ? encoded(value, strictText(encoding))
      : Buffer.from(bytesOf(value))
  },
  strftime: formatDate,
  date_format: formatDate,
  base64_encode: withoutArguments((value) => Buffer.from(bytesOf(value)).toString('base64')),
  base64_decode: onText((shown) => Buffer.from(shown, 'base64').toString()),
  md5: hash('md5'),
  sha1: hash('sha1'),
  sha256: hash('sha256'),
  sha512: hash('sha512'),
  hmac(value, given) {
    const { shared_secret, challenge_hmac } = bind(
      { shared_secret: REQUIRED, challenge_hmac: REQUIRED },
      given,
    )
    const made = createHmac('sha256', bytesOf(shared_secret)).update(bytesOf(value)).digest('base64')
    return made === text(challenge_hmac)
  },
  hmac_compute(value, given) {
    const { shared_secret } = bind({ shared_secret: REQUIRED }, given)
    return createHmac('sha256', bytesOf(shared_secret)).update(bytesOf(value)).digest('hex')
  },
  random_str: withoutArguments((value) => {
    const size = checkLength(integer(value))
    if (size < 0) throw new TemplateError('random_str takes a length of at least 0')
    return randomBytes(size).toString('base64').slice(0, size)
  }),
  random_hash: randomHash,
  rand_str: randomHash,
  check_whitelist_blacklist: isOnLists,
  path_join: (value, { args }) => posix.join(text(value), ...args.map(text)),
  ipwrap: withoutArguments((value) =>
    Array.isArray(value) ? value.map((each) => wrapped(each)) : wrapped(value),
  ),
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

function groups(value: unknown, given: CallArguments, atStart: boolean): unknown {
  const pattern = bind({ rgx: REQUIRED, ignorecase: false, multiline: false }, given)
  const found = searchWith(pattern, (search) => search.groups(strictText(value), { atStart }))
  return found ? Tuple.from(found) : null
}

/** The name space of Salt's `uuid` filter. */
const NAMESPACE = Buffer.from('91633ebf1c865e33935a28061f4b480e', 'hex')

/** A UUID of version 5 (RFC 9562, 5.5). */
function uuid5(name: Uint8Array): string {
  const digest = createHash('sha1').update(NAMESPACE).update(name).digest().subarray(0, 16)
  digest[6] = ((digest[6] as number) & 0x0f) | 0x50
  digest[8] = ((digest[8] as number) & 0x3f) | 0x80
  return digest.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

function toBoolean(value: unknown): boolean {
  if (value === null) return false
  if (typeof value === 'boolean') return value
  if (typeof value === 'string') return ['yes', '1', 'true'].includes(value.toLowerCase())
  if (isNumber(value)) return !isFloat(value) && Number(value) > 0
  return (isMapping(value) || (Array.isArray(value) && !(value instanceof Tuple))) && lengthOf(value) > 0
}

function toNumber(value: unknown): unknown {
  if (typeof value !== 'string') return value
  const whole = readInteger(value)
  if (whole !== undefined) return whole
  const number = readFloat(value)
  return number === undefined ? value : float(number)
}

/** Whether a text matches a pattern of the white list, if there is one, and none of the black list. */
function isOnLists(value: unknown, given: CallArguments): boolean {
  const { whitelist, blacklist } = bind({ whitelist: null, blacklist: null }, given)
  const patterns = (list: unknown) =>
    typeof list === 'string' ? [list] : list === null ? [] : elements(list)
  const matches = (list: unknown) =>
    patterns(list).some((pattern) => asTemplateError(() => fnmatch(strictText(value), text(pattern))))
  return !matches(blacklist) && (patterns(whitelist).length === 0 || matches(whitelist))
}

/** The hash of a random number up to the value. */
function randomHash(value: unknown, given: CallArguments): string {
  const { hash_type } = bind({ hash_type: null }, given)
  integer(value)
  const type = text(hash_type ?? 'md5')
  if (!getHashes().includes(type)) throw new TemplateError(`unsupported hash type ${type}`)
  return createHash(type).update(randomBytes(64)).digest('hex')
}

const UNITS = 'BKMGTPEZY'

function bytesOfHuman(shown: string, unit: string, isMetric: boolean): number {
  const [, digits = '', given = ''] = /^([\d.]*)\s*(.*)$/.exec(shown.trim()) ?? []
  const value = Number(digits)
  if (digits === '' || !Number.isFinite(value)) return 0
  const name = (given || unit).toUpperCase()
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

function addressOf(value: unknown): 4 | 6 | undefined {
  const address = typeof value === 'string' ? parseAddress(value) : undefined
  if (!address) return undefined
  return text(value).includes(':') ? 6 : 4
}

const wrapped = (value: unknown): unknown => (addressOf(value) === 6 ? `[${text(value)}]` : value)
