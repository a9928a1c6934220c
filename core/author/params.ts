/** A JSON Schema as a plain object (the subset of draft 2020-12 that ajv supports). */
export type JsonSchema = { readonly [key: string]: unknown }

declare const type: unique symbol

/**
 * One parameter of a function: its JSON schema, how it is bound, and (at compile time only) its type.
 * `kind` is the way it is bound: `value` by position or name; `rest` takes all further positional values; `keywords` takes
 * all keyword arguments that match no other parameter.
 */
export interface Param<
  T,
  K extends 'value' | 'rest' | 'keywords' = 'value' | 'rest' | 'keywords',
  O extends boolean = boolean,
> {
  readonly kind: K
  readonly schema: JsonSchema
  /** Whether it may be left out. */
  readonly optional?: O
  /** The value if it is left out. */
  readonly default?: unknown
  /** Whether it is masked in logs, events and stored jobs. */
  readonly secret?: boolean
  readonly [type]?: T
}

/** Parameters in the order of their positions; keys are the keyword names. */
export type Params = Readonly<Record<string, Param<unknown>>>

/** The values a function receives for its parameters. */
export type Args<P extends Params> = { [K in keyof P]: P[K] extends Param<infer T> ? T : never }

interface Described {
  readonly description?: string
}
interface StringOptions extends Described {
  readonly minLength?: number
  readonly maxLength?: number
  /** A regular expression that some part of the text matches. */
  readonly pattern?: string
  readonly format?: 'date' | 'date-time' | 'hostname' | 'ipv4' | 'ipv6' | 'regex' | 'uri'
}
interface NumberOptions extends Described {
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly exclusiveMaximum?: number
  readonly multipleOf?: number
}
interface ArrayOptions extends Described {
  readonly minItems?: number
  readonly maxItems?: number
  readonly uniqueItems?: boolean
}
interface RecordOptions extends Described {
  readonly minProperties?: number
  readonly maxProperties?: number
}

type ValueParam<T> = Param<T, 'value'>
type OptionalParam<T> = Param<T, 'value', true>

/** Throw a TypeError, with a correction, for a value that no builder made. */
export function refuseNoParam(given: unknown, what: string): void {
  if (typeof given === 'object' && given !== null && 'kind' in given && 'schema' in given) return
  const [builder] = Object.entries(p).find(([name, made]) => made === given || name === given) ?? ['string']
  const found = typeof given === 'function' ? 'a function' : JSON.stringify(given)
  throw new TypeError(`${what} is ${found}; declare it with a call, such as p.${builder}()`)
}

/** Return the schema of a parameter inside another. */
function schemaIn(builder: string, inner: Param<unknown>): JsonSchema {
  refuseNoParam(inner, `The argument of p.${builder}()`)
  return inner.schema
}

function words<V extends readonly string[]>(given: V): V {
  if (given.length > 0 && given.every((word) => typeof word === 'string')) return given
  throw new TypeError(
    `p.enum() takes strings, as in p.enum('a', 'b'), but was given ${JSON.stringify(given)}`,
  )
}

/** Return the schema of a text. Throws SyntaxError for a pattern that is not a valid regular expression. */
function textSchema(options: StringOptions): JsonSchema {
  if (options.pattern !== undefined) new RegExp(options.pattern, 'u')
  return { type: 'string', ...options }
}

/** Make a parameter. It is secret if any parameter inside it is. */
function value<T>(schema: JsonSchema, inside: readonly ValueParam<unknown>[] = []): ValueParam<T> {
  return { kind: 'value', schema, ...secretOf(inside) }
}

const secretOf = (inside: readonly ValueParam<unknown>[]) =>
  inside.some(({ secret }) => secret) ? { secret: true } : {}

function withDefault(property: ValueParam<unknown>): JsonSchema {
  const schema = schemaIn('object', property)
  return property.default === undefined ? schema : { ...schema, default: property.default }
}

/** Builders of parameters: `p.string()`, `p.optional(p.number({ minimum: 0 }))`, `p.default(p.boolean(), false)`. */
export const p = {
  /** Any value, unconverted. */
  any: (options: Described = {}) => value<unknown>({ ...options }),
  string: (options: StringOptions = {}) => value<string>(textSchema(options)),
  number: (options: NumberOptions = {}) => value<number>({ type: 'number', ...options }),
  integer: (options: NumberOptions = {}) => value<number>({ type: 'integer', ...options }),
  boolean: (options: Described = {}) => value<boolean>({ type: 'boolean', ...options }),
  enum: <const V extends readonly string[]>(...values: V) =>
    value<V[number]>({ type: 'string', enum: words(values) }),
  array: <T>(items: ValueParam<T>, options: ArrayOptions = {}) =>
    value<T[]>({ type: 'array', items: schemaIn('array', items), ...options }, [items]),
  record: <T>(values: ValueParam<T>, options: RecordOptions = {}) =>
    value<Record<string, T>>(
      { type: 'object', additionalProperties: schemaIn('record', values), ...options },
      [values],
    ),
  object: <P extends Readonly<Record<string, ValueParam<unknown>>>>(properties: P, options: Described = {}) =>
    value<Args<P>>(
      {
        type: 'object',
        properties: Object.fromEntries(
          Object.entries(properties).map(([name, property]) => [name, withDefault(property)]),
        ),
        required: Object.entries(properties)
          .filter(([, param]) => !param.optional)
          .map(([name]) => name),
        additionalProperties: false,
        ...options,
      },
      Object.values(properties),
    ),
  union: <const U extends readonly ValueParam<unknown>[]>(...members: U) =>
    value<U[number] extends ValueParam<infer T> ? T : never>(
      { anyOf: members.map((member) => schemaIn('union', member)) },
      members,
    ),
  /** The parameter with a description for its help. */
  described: <V extends ValueParam<unknown>>(param: V, description: string): V => ({
    ...param,
    schema: { ...schemaIn('described', param), description },
  }),
  /** A parameter that may be left out; the function then receives `undefined`. */
  optional: <T>(param: ValueParam<T>): OptionalParam<T | undefined> => ({
    ...param,
    schema: schemaIn('optional', param),
    optional: true,
  }),
  /** A parameter that may be left out; the function then receives `fallback`. */
  default: <T>(param: ValueParam<T>, fallback: NoInfer<T>): OptionalParam<T> => ({
    ...param,
    schema: schemaIn('default', param),
    optional: true,
    default: fallback,
  }),
  /** A parameter whose value is masked wherever arguments are shown or stored. */
  secret: <V extends ValueParam<unknown>>(param: V): V => ({
    ...param,
    schema: schemaIn('secret', param),
    secret: true,
  }),
  /** All further positional arguments (Python's `*args`). Declare it after the positional parameters. */
  rest: <T>(items: ValueParam<T>): Param<T[], 'rest'> => ({
    kind: 'rest',
    schema: { type: 'array', items: schemaIn('rest', items) },
    optional: true,
    ...secretOf([items]),
  }),
  /** All keyword arguments that match no other parameter (Python's `**kwargs`), except `__pub_*`. */
  keywords: <T>(values: ValueParam<T>): Param<Record<string, T>, 'keywords'> => ({
    kind: 'keywords',
    schema: { type: 'object', additionalProperties: schemaIn('keywords', values) },
    optional: true,
    ...secretOf([values]),
  }),
} as const
