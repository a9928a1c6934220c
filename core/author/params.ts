import { durationSeconds } from '../dialect/duration.ts'
import { type Convert, convertList, convertMap, convertUnion, refused } from './conversions.ts'
import { isStandardSchema, type StandardSchema, standardParam } from './standard-schema.ts'

/** A JSON Schema as a plain object (the subset of draft 2020-12 that ajv supports). */
export type JsonSchema = { readonly [key: string]: unknown }

declare const type: unique symbol
declare const input: unique symbol

/**
 * One parameter of a function: its JSON schema, how it is bound, and (at compile time only) the type T of the value that the
 * function receives, and the type I of the value that callers give.
 * `kind` is the way it is bound: `value` by position or name; `rest` takes all further positional values; `keywords` takes
 * all keyword arguments that match no other parameter.
 */
export interface Param<
  T,
  K extends 'value' | 'rest' | 'keywords' = 'value' | 'rest' | 'keywords',
  O extends boolean = boolean,
  I = T,
> {
  readonly kind: K
  readonly schema: JsonSchema
  /** Whether it may be left out. */
  readonly optional?: O
  /** The value if it is left out. */
  readonly default?: unknown
  /** Whether it is masked in logs, events and stored jobs. */
  readonly secret?: boolean
  /** Turns a value that fits the schema into the one that the function receives, or refuses it. */
  readonly convert?: Convert
  /** Whether `convert` makes a value of `undefined`, too, as a schema of another library may. */
  readonly convertsAbsent?: boolean
  readonly [type]?: T
  readonly [input]?: I
}

/** What may be declared: a parameter that `p` made, or a schema of zod, valibot, arktype or another library. */
export type Schema = Param<unknown, 'value', boolean, unknown> | StandardSchema

/** The type of the value that a function receives. */
export type Output<S> =
  S extends StandardSchema<unknown, infer T>
    ? T
    : S extends Param<infer T, Kind, boolean, unknown>
      ? T
      : never

/** The type of the value that callers give. */
export type Input<S> =
  S extends StandardSchema<infer I> ? I : S extends Param<unknown, Kind, boolean, infer I> ? I : never

/** The type of a declared result: what callers would give, or dates where functions receive dates. */
export type ResultInput<S> = S extends StandardSchema ? Input<S> : WithDates<Input<S>, Output<S>>

/** The type I of values that are given, and dates where the type T of values that are received has them. */
type WithDates<I, T> = Extract<T, Date> | (I extends T | Uint8Array ? I : MembersWithDates<I, T>)
type MembersWithDates<I, T> = I extends readonly (infer Item)[]
  ? WithDates<Item, T extends readonly (infer U)[] ? U : never>[]
  : { [K in keyof I]: WithDates<I[K], T extends { readonly [_ in K]?: infer U } ? U : never> }

/** The type T, in which lists may be read-only ones. */
export type WithReadonlyLists<T> = T extends readonly (infer Item)[]
  ? readonly WithReadonlyLists<Item>[]
  : T extends Date | Uint8Array
    ? T
    : T extends object
      ? { [K in keyof T]: WithReadonlyLists<T[K]> }
      : T

type Kind = 'value' | 'rest' | 'keywords'

/** Declarations by name, in the order of the positions. */
export type Declarations = Readonly<Record<string, Param<unknown, Kind, boolean, unknown> | StandardSchema>>

/** Declarations that are given by name only. */
export type Options = Readonly<Record<string, Schema>>

/** The parameter that a declaration stands for. */
export type AsParam<S> =
  S extends StandardSchema<infer I, infer T> ? Param<T, 'value', undefined extends I ? true : false, I> : S

/** The parameters that {@link Declarations} stand for. */
export type ParamsOf<D extends Declarations> = { readonly [K in keyof D]: AsParam<D[K]> }

/** Parameters in the order of their positions; keys are the keyword names. */
export type Params = Readonly<Record<string, Param<unknown, Kind, boolean, unknown>>>

/** The values a function receives for its parameters. */
export type Args<P extends Declarations> = { [K in keyof P]: Output<P[K]> }

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

type ValueParam<T, I = T> = Param<T, 'value', boolean, I>
type OptionalParam<T, I = T> = Param<T, 'value', true, I>

/** Whether a parameter, or one of several, may be left out: `true` if it was made so. */
type MayBeLeftOut<S> = [Extract<S, OptionalParam<unknown, unknown>>] extends [never] ? boolean : true

type OptionalKeys<P extends Options> = {
  [K in keyof P]: P[K] extends OptionalParam<unknown, unknown> ? K : undefined extends Input<P[K]> ? K : never
}[keyof P]
type ObjectInput<P extends Options> = { [K in Exclude<keyof P, OptionalKeys<P>>]: Input<P[K]> } & {
  [K in OptionalKeys<P>]?: Input<P[K]>
}

/** Return what is declared as a parameter. Throws a TypeError, with a correction, for anything else. */
export function asParam(given: unknown, what: string): Param<unknown> {
  if (isStandardSchema(given)) return standardParam(given)
  if (typeof given === 'object' && given !== null && 'kind' in given && 'schema' in given)
    return given as Param<unknown>
  const [builder] = Object.entries(p).find(([name, made]) => made === given || name === given) ?? ['string']
  const found = typeof given === 'function' ? 'a function' : JSON.stringify(given)
  throw new TypeError(`${what} is ${found}; declare it with a call, such as p.${builder}()`)
}

/** Return the parameters of declarations; `what` names one in the error. */
export function asParams<D extends Declarations>(given: D, what: (name: string) => string): ParamsOf<D> {
  const params = Object.entries(given).map(([name, declared]) => [name, asParam(declared, what(name))])
  return Object.fromEntries(params) as ParamsOf<D>
}

/** Return the parameter inside another. */
const paramIn = (builder: string, inner: unknown): Param<unknown> =>
  asParam(inner, `The argument of p.${builder}()`)

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
function value<T, I = T>(
  schema: JsonSchema,
  inside: readonly Param<unknown>[] = [],
  convert?: Convert,
): ValueParam<T, I> {
  return { kind: 'value', schema, ...secretOf(inside), ...(convert && { convert }) }
}

const secretOf = (inside: readonly Param<unknown>[]) =>
  inside.some(({ secret }) => secret) ? { secret: true } : {}

function withDefault({ schema, default: fallback }: Param<unknown>): JsonSchema {
  return fallback === undefined ? schema : { ...schema, default: fallback }
}

/** What {@link value} makes a list of. */
const listOf = (items: Param<unknown>, options: ArrayOptions = {}) =>
  [{ type: 'array', items: items.schema, ...options }, [items], convertList(items)] as const

/** What {@link value} makes a map with any keys of. */
const mapOf = (values: Param<unknown>, options: RecordOptions = {}) =>
  [
    { type: 'object', additionalProperties: values.schema, ...options },
    [values],
    convertMap(new Map(), values),
  ] as const

function object<P extends Options>(given: P, options: Described): ValueParam<Args<P>, ObjectInput<P>> {
  const properties = Object.entries(given).map(([name, inner]) => [name, paramIn('object', inner)] as const)
  return value(
    {
      type: 'object',
      properties: Object.fromEntries(properties.map(([name, param]) => [name, withDefault(param)])),
      required: properties.filter(([, param]) => !param.optional).map(([name]) => name),
      additionalProperties: false,
      ...options,
    },
    properties.map(([, param]) => param),
    convertMap(new Map(properties)),
  )
}

/** Return the fields that make a union optional, with the default, if one of its members is optional. */
const leftOutAs = (members: readonly Param<unknown>[]): Pick<Param<unknown>, 'optional' | 'default'> => {
  const { optional, default: fallback } = members.find((member) => member.optional) ?? {}
  return { ...(optional && { optional }), ...(fallback !== undefined && { default: fallback }) }
}

const NULL: Param<null> = { kind: 'value', schema: { type: 'null' } }

/** Return a copy of a parameter with its conversion followed by another one. */
function followed(param: Param<unknown>, next: Convert): Param<unknown, 'value'> {
  const { convert } = param
  const both: Convert = async (given) => {
    const first = convert ? await convert(given) : { value: given }
    return 'demand' in first ? first : next(first.value)
  }
  return { ...param, kind: 'value', convert: both }
}

const day = (text: string): Date | undefined => {
  const found = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(found.getTime()) && found.toISOString().startsWith(text) ? found : undefined
}

/** A parameter whose text is converted by `read`, which returns undefined for what it cannot read. */
function reading<T, I>(
  schema: JsonSchema,
  demand: string,
  read: (given: I) => T | undefined,
): ValueParam<T, I> {
  return value(schema, [], (given) => {
    const found = read(given as I)
    return found === undefined ? refused(demand, given) : { value: found }
  })
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

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
  /** This very value. */
  literal: <const V extends string | number | boolean>(only: V) =>
    value<V>(
      typeof only === 'string' ? { type: 'string', enum: [only] } : { type: typeof only, const: only },
    ),
  /** A day such as `2026-01-31`. The function receives a `Date`, at midnight of UTC. */
  date: (options: Described = {}) =>
    reading<Date, string>(
      { type: 'string', format: 'date', ...options },
      'must be a date such as 2026-01-31',
      day,
    ),
  /** A time such as `2026-01-31T12:00:00Z`; without a zone it is local. The function receives a `Date`. */
  dateTime: (options: Described = {}) =>
    reading<Date, string>(
      { type: 'string', format: 'date-time', ...options },
      'must be a date and time such as 2026-01-31T12:00:00Z',
      (text) => new Date(text),
    ),
  /** A number of seconds, or a text such as `90s`, `5m` or `1h30m`. The function receives seconds. */
  duration: (options: Described = {}) =>
    reading<number, string | number>(
      {
        description: 'Seconds, or a duration such as 90s, 5m or 1h30m.',
        anyOf: [{ type: 'number' }, { type: 'string' }],
        ...options,
      },
      'must be a number of seconds, or a duration such as 90s, 5m or 1h30m',
      (given) => durationSeconds(String(given)),
    ),
  /** Bytes, which JSON and the command line write in base64. The function receives a `Buffer`. */
  bytes: (options: Described = {}) =>
    reading<Buffer, string | Uint8Array>(
      { type: 'string', contentEncoding: 'base64', ...options },
      'must be bytes in base64, such as aGVsbG8=',
      (text) => (BASE64.test(String(text)) ? Buffer.from(String(text), 'base64') : undefined),
    ),
  array: <S extends Schema>(items: S, options: ArrayOptions = {}) =>
    value<Output<S>[], Input<S>[]>(...listOf(paramIn('array', items), options)),
  record: <S extends Schema>(values: S, options: RecordOptions = {}) =>
    value<Record<string, Output<S>>, Record<string, Input<S>>>(...mapOf(paramIn('record', values), options)),
  object: <P extends Options>(properties: P, options: Described = {}) => object(properties, options),
  union: <const U extends readonly Schema[]>(...given: U) => {
    const members = given.map((member) => paramIn('union', member))
    const union = value<Output<U[number]>, Input<U[number]>>(
      { anyOf: members.map(({ schema }) => schema) },
      members,
      convertUnion(members),
    )
    return { ...union, ...leftOutAs(members) } as Param<
      Output<U[number]>,
      'value',
      MayBeLeftOut<U[number]>,
      Input<U[number]>
    >
  },
  /** The value, or null. */
  nullable: <S extends Schema>(given: S) => {
    const members = [NULL, paramIn('nullable', given)]
    const nullable = value<Output<S> | null, Input<S> | null>(
      { anyOf: members.map(({ schema }) => schema).reverse() },
      members,
      convertUnion(members),
    )
    return { ...nullable, ...leftOutAs(members) } as Param<
      Output<S> | null,
      'value',
      MayBeLeftOut<S>,
      Input<S> | null
    >
  },
  /**
   * The parameter with one more condition. `demand` ends the sentence about a value that does not meet it:
   * `p.refine(p.integer(), (n) => n % 2 === 0, 'must be even')`.
   */
  refine: <S extends Schema>(
    given: S,
    meets: (value: Output<S>) => boolean | Promise<boolean>,
    demand: string,
  ) =>
    followed(paramIn('refine', given), async (found) =>
      (await meets(found as Output<S>)) ? { value: found } : refused(demand, found),
    ) as Param<Output<S>, 'value', MayBeLeftOut<S>, Input<S>>,
  /** The parameter with a description for its help. */
  described: <S extends Schema>(given: S, description: string): AsParam<S> => {
    const param = paramIn('described', given)
    return { ...param, schema: { ...param.schema, description } } as unknown as AsParam<S>
  },
  /** A parameter that may be left out; the function then receives `undefined`. */
  optional: <S extends Schema>(given: S) =>
    ({ ...paramIn('optional', given), optional: true }) as OptionalParam<
      Output<S> | undefined,
      Input<S> | undefined
    >,
  /** A parameter that may be left out; the function then receives `fallback`. */
  default: <S extends Schema>(given: S, fallback: NoInfer<Input<S>>) =>
    ({ ...paramIn('default', given), optional: true, default: fallback }) as OptionalParam<
      Output<S>,
      Input<S>
    >,
  /** A parameter whose value is masked wherever arguments are shown or stored. */
  secret: <S extends Schema>(given: S): AsParam<S> =>
    ({ ...paramIn('secret', given), secret: true }) as unknown as AsParam<S>,
  /** All further positional arguments (Python's `*args`). Declare it after the positional parameters. */
  rest: <S extends Schema>(items: S): Param<Output<S>[], 'rest', boolean, Input<S>[]> => ({
    ...value<Output<S>[], Input<S>[]>(...listOf(paramIn('rest', items))),
    kind: 'rest',
    optional: true,
  }),
  /** All keyword arguments that match no other parameter (Python's `**kwargs`), except `__pub_*`. */
  keywords: <S extends Schema>(
    values: S,
  ): Param<Record<string, Output<S>>, 'keywords', boolean, Record<string, Input<S>>> => ({
    ...value<Record<string, Output<S>>, Record<string, Input<S>>>(...mapOf(paramIn('keywords', values))),
    kind: 'keywords',
    optional: true,
  }),
} as const
