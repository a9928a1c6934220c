/** Parameters and results of functions in words: the same for `sys.doc`, `-d`, editors and web pages. */
import type { JsonSchema, Param, Params } from '../../author/params.ts'
import { isRecord } from '../../base/record.ts'
import { demandOf, shownValue } from '../offer/demands.ts'

/** What a function takes and returns. */
export interface Signature {
  /** Null if they are not known. */
  readonly params: Params | null
  readonly returns?: Pick<Param<unknown>, 'schema' | 'optional'> | undefined
}

/** A parameter or a result in words. */
export interface InWords {
  /** `integer, at least 1, default 3` */
  readonly takes: string
  readonly description?: string
}

/**
 * Return the documentation of a function followed by its parameters and its result, if any of them are known; undefined if
 * nothing is.
 */
export function functionHelp(doc: string | undefined, signature: Signature | undefined): string | undefined {
  const parts = [doc ?? '', signature ? signatureText(signature) : ''].filter((part) => part !== '')
  return parts.length === 0 ? undefined : parts.join('\n\n')
}

/** Return the parameters and the result as text under headings; '' if there are none. */
function signatureText({ params, returns }: Signature): string {
  const rows = Object.entries(params ?? {}).map(([name, param]) => {
    const { takes, description } = paramInWords(param)
    return entry(`${name}: ${takes}`, description)
  })
  const sections = [
    ...(rows.length > 0 ? [`Parameters:\n\n${rows.join('\n')}`] : []),
    ...(returns ? [`Returns:\n\n${resultEntry(returns)}`] : []),
  ]
  return sections.join('\n\n')
}

function resultEntry(returns: NonNullable<Signature['returns']>): string {
  const { takes, description } = resultInWords(returns)
  return entry(takes, description)
}

const entry = (line: string, description: string | undefined): string =>
  [`    ${line}`, ...(description?.split('\n').map((text) => `        ${text}`.trimEnd()) ?? [])].join('\n')

/** Return what a parameter takes. A secret's default is not shown. */
export function paramInWords({ kind, schema, optional, default: fallback, secret }: Param<unknown>): InWords {
  const inner = kind === 'rest' ? schema.items : kind === 'keywords' ? schema.additionalProperties : schema
  const left =
    fallback === undefined || secret ? (optional ? ['optional'] : []) : [`default ${shownValue(fallback)}`]
  const more = kind === 'rest' ? ['any number by position'] : ['any number by name']
  return inWords(schema, [
    schemaInWords(isRecord(inner) ? inner : {}),
    ...(kind === 'value' ? left : more),
    ...(secret ? ['secret'] : []),
  ])
}

/** Return what a declared result is. */
export const resultInWords = ({ schema, optional }: NonNullable<Signature['returns']>): InWords =>
  inWords(schema, [schemaInWords(schema), ...(optional ? ['or nothing'] : [])])

const inWords = ({ description }: JsonSchema, words: readonly string[]): InWords => ({
  takes: words.join(', '),
  ...(typeof description === 'string' && { description }),
})

/** Return the type and the limits of a schema: `array of strings, at least 1 item`. */
function schemaInWords(schema: JsonSchema): string {
  const limits = LIMITS.filter((keyword) => ![undefined, false].includes(schema[keyword] as undefined))
  return [typeInWords(schema), ...limits.map((keyword) => limitInWords(keyword, schema[keyword]))].join(', ')
}

const LIMITS = [
  'minimum',
  'exclusiveMinimum',
  'maximum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'format',
  'pattern',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
]

/** Shorten a requirement: `must be at least 1` to `at least 1`. */
const limitInWords = (keyword: string, limit: unknown): string =>
  demandOf(keyword, limit)
    .replace(/^must not have/, 'without')
    .replace(/^must match/, 'matching')
    .replace(/^must (be |have )?/, '')

function typeInWords(schema: JsonSchema): string {
  const { type, anyOf, enum: words, const: only, items, contentEncoding } = schema
  if (Array.isArray(anyOf))
    return either(anyOf.map((member) => schemaInWords(isRecord(member) ? member : {})))
  if (Array.isArray(words)) return either(words.map(shownValue))
  if (only !== undefined) return shownValue(only)
  if (contentEncoding === 'base64') return 'bytes in base64'
  if (type === 'array') return `array${ofMany(items)}`
  if (type === 'object') return objectInWords(schema)
  const types = [type].flat().filter((one) => typeof one === 'string')
  return types.length > 0 ? either(types) : ANY
}

const ANY = 'any value'

function objectInWords({ properties, required, additionalProperties }: JsonSchema): string {
  if (!isRecord(properties)) return `object${ofMany(additionalProperties)}`
  const needed: readonly unknown[] = Array.isArray(required) ? required : []
  const members = Object.entries(properties).map(([name, schema]) => {
    const words = schemaInWords(isRecord(schema) ? schema : {})
    return `${name} (${words}${needed.includes(name) ? '' : ', optional'})`
  })
  return members.length === 0 ? 'object' : `object with ${joined(members, 'and')}`
}

/** Return ` of strings` for the schema of members; '' if they may be anything. */
function ofMany(schema: unknown): string {
  const words = schemaInWords(isRecord(schema) ? schema : {})
  if (words === ANY) return ''
  return /^\w+$/.test(words) ? ` of ${words}s` : ` of (${words})`
}

const either = (words: readonly string[]): string => joined([...new Set(words)], 'or')

const joined = (words: readonly string[], last: 'and' | 'or'): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`
