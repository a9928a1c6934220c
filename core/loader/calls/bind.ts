import { hasType } from '../../author/has-type.ts'
import type { Param, Params } from '../../author/params.ts'
import { SaltError } from '../../base/errors.ts'
import { MASK } from '../../base/secret.ts'
import { maskSecretWords } from '../../base/secret-words.ts'
import { jsonText } from '../../dialect/json.ts'
import { coerce, filledDefault } from './coerce.ts'
import { untyped } from './typed.ts'
import type { Check } from './validate.ts'

type Values = Readonly<Record<string, unknown>>

/** A call before its arguments are bound; values may be `Typed`. */
export interface Call {
  readonly name: string
  readonly args: readonly unknown[]
  readonly kwargs: Values
  /** Facts about the job, if a job calls: `jid` is the value of a parameter that is declared as `__pub_jid`. */
  readonly pub?: Values
}

/** Prefix of the keywords by which Python minions pass facts about the job to a function. */
const PUB_PREFIX = '__pub_'

/**
 * Bind the arguments of a call to parameters, by position, by name, rest and keywords; coerce and validate them, and add
 * defaults.
 * @throws SaltError INVOCATION for unknown keywords, INVALID_ARGUMENTS otherwise
 */
export function bind(call: Call, params: Params, check: Check): Record<string, unknown> {
  const given = new Map<string, unknown>()
  takeKeywords(call, params, given)
  takePositions(call, params, given)
  const values = Object.fromEntries(
    [...given].flatMap(([name, value]) => {
      const coerced = settle(value, params[name] as Param<unknown>)
      return coerced === undefined ? [] : [[name, coerced]]
    }),
  )
  refuseMissing(call, params, values)
  const wrong = check(values)
  if (wrong !== undefined) throw invalid(call, wrong)
  return { ...defaultsOf(params), ...values }
}

/** Return the arguments of a call with the values that {@link bind} made of them. */
export function boundArguments(
  { args, kwargs }: Pick<Call, 'args' | 'kwargs'>,
  params: Params,
  values: Values,
): Pick<Call, 'args' | 'kwargs'> {
  const names = positionalNames(params)
  const rest = (values[nameOfKind(params, 'rest') ?? ''] ?? []) as readonly unknown[]
  const others = (values[nameOfKind(params, 'keywords') ?? ''] ?? {}) as Values
  const known = Object.keys(kwargs).flatMap((name) => {
    const of = params[name]?.kind === 'value' ? values : others
    return Object.hasOwn(of, name) ? [[name, of[name]] as const] : []
  })
  return {
    args: args.map((_, at) => (at < names.length ? values[names[at] as string] : rest[at - names.length])),
    kwargs: Object.fromEntries(known),
  }
}

/**
 * Take the keyword arguments. Only a parameter with the name of a `__pub_` keyword receives it, and only from the job.
 */
function takeKeywords({ name: fun, kwargs, pub }: Call, params: Params, given: Map<string, unknown>): void {
  const collector = nameOfKind(params, 'keywords')
  const others: [string, unknown][] = []
  const unknown: [string, unknown][] = []
  const isValue = (name: string) => Object.hasOwn(params, name) && params[name]?.kind === 'value'
  for (const [name, value] of Object.entries(kwargs)) {
    if (isValue(name)) given.set(name, value)
    else if (name.startsWith(PUB_PREFIX)) continue
    else if (collector !== undefined) others.push([name, value])
    else unknown.push([name, value])
  }
  if (unknown.length > 0) {
    const list = unknown.map(([name, value]) => `${name}=${shownText(name, value, params)}`).join(', ')
    const message = `The following keyword arguments are not valid: ${list}`
    throw new SaltError('INVOCATION', message, { fun, names: unknown.map(([name]) => name) })
  }
  if (collector !== undefined) given.set(collector, Object.fromEntries(others))
  if (pub) takeJobFacts(pub, Object.keys(params).filter(isValue), given)
}

function takeJobFacts(pub: Values, names: readonly string[], given: Map<string, unknown>): void {
  for (const name of names.filter((name) => name.startsWith(PUB_PREFIX))) {
    const key = name.slice(PUB_PREFIX.length)
    if (Object.hasOwn(pub, key)) given.set(name, pub[key])
    else given.delete(name)
  }
}

function takePositions(call: Call, params: Params, given: Map<string, unknown>): void {
  const { args } = call
  const names = positionalNames(params)
  for (const [index, value] of args.slice(0, names.length).entries()) {
    const name = names[index] as string
    if (given.has(name))
      throw invalid(call, `${signatureName(call)} got multiple values for argument '${name}'`)
    given.set(name, value)
  }
  const rest = nameOfKind(params, 'rest')
  if (rest !== undefined) given.set(rest, args.slice(names.length))
  else if (args.length > names.length) throw invalid(call, tooMany(call, names, params))
}

/**
 * Return the value for the function. Undefined means that the argument is absent; so does null for an optional parameter
 * that does not take null.
 */
function settle(value: unknown, param: Param<unknown>): unknown {
  if (untyped(value) === null && param.optional && !hasType(null, param.schema)) return undefined
  return coerce(value, param.schema)
}

function refuseMissing(call: Call, params: Params, values: Values): void {
  const missing = Object.keys(params).filter(
    (name) => !params[name]?.optional && !Object.hasOwn(values, name),
  )
  if (missing.length === 0) return
  const quoted = missing.map((name) => `'${name}'`)
  const last = quoted.pop()
  const list = quoted.length === 0 ? last : `${quoted.join(', ')}${quoted.length > 1 ? ',' : ''} and ${last}`
  const count = `${missing.length} required positional argument${missing.length > 1 ? 's' : ''}`
  throw invalid(call, `${signatureName(call)} missing ${count}: ${list}`)
}

/** The function as Python names it in such a message: without its module. */
const signatureName = ({ name }: Call): string => `${name.slice(name.lastIndexOf('.') + 1)}()`

function tooMany(call: Call, names: readonly string[], params: Params): string {
  const least = names.filter((positional) => !params[positional]?.optional).length
  const most = names.length
  const takes = least === most ? String(most) : `from ${least} to ${most}`
  const given = `${call.args.length} ${call.args.length === 1 ? 'was' : 'were'} given`
  return `${signatureName(call)} takes ${takes} positional argument${most === 1 ? '' : 's'} but ${given}`
}

/** Return the positional parameters: those before `rest`. The ones after it are passed by name only. */
export function positionalNames(params: Params): string[] {
  const entries = Object.entries(params)
  const rest = entries.findIndex(([, param]) => param.kind === 'rest')
  return entries
    .slice(0, rest < 0 ? entries.length : rest)
    .filter(([, param]) => param.kind === 'value')
    .map(([name]) => name)
}

export function nameOfKind(params: Params, kind: Param<unknown>['kind']): string | undefined {
  return Object.keys(params).find((name) => params[name]?.kind === kind)
}

/** Return copies of the default values, by name. */
export function defaultsOf(params: Params): Record<string, unknown> {
  const entries = Object.entries(params).filter(([, param]) => param.default !== undefined)
  return Object.fromEntries(
    entries.map(([name, param]) => [name, filledDefault(param.default, param.schema)]),
  )
}

export function invalid({ name }: Pick<Call, 'name'>, reason: string): SaltError {
  return new SaltError('INVALID_ARGUMENTS', `Passed invalid arguments to ${name}: ${reason}`, {
    fun: name,
    reason,
  })
}

/**
 * Return an unknown keyword's value for the message. Masked if any parameter is secret, whose name may have been
 * mistyped.
 */
function shownText(name: string, value: unknown, params: Params): string {
  if (Object.values(params).some(({ secret }) => secret)) return MASK
  return pythonText(maskSecretWords({ [name]: untyped(value) }, {})[name])
}

/** Return a value for Salt's message, as Python writes it. */
function pythonText(value: unknown): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  return typeof value === 'object' ? jsonText(value) : String(value)
}
