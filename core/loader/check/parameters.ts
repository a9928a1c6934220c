/** What functions declare: parameters that can be given, defaults that fit, secrets that are masked, schemas that compile. */
import type { Fn } from '../../author/fn.ts'
import type { JsonSchema, Param, Params } from '../../author/params.ts'
import { isRecord } from '../../base/record.ts'
import { namesSecret } from '../../base/secret-words.ts'
import { positionalNames } from '../calls/bind.ts'
import { makeCheck, whyInvalidSchema } from '../calls/validate.ts'
import { KEYWORD } from '../calls/words.ts'
import { type Finding, finding, type RuleId } from './rules.ts'
import type { SourceText } from './source-text.ts'

type Told = readonly [rule: RuleId, parameter: string, message: string]

export function parameterFindings(source: SourceText, functions: ReadonlyMap<string, Fn>): Finding[] {
  return [...functions].flatMap(([fun, { params, returns }]) => {
    const told: Told[] = [
      ...Object.entries(params).flatMap(([name, param]) => [
        ...ofSchema(name, param),
        ...ofSecret(name, param),
      ]),
      ...Object.keys(params).flatMap((name) => ofName(name, params)),
      ...ofOrder(params),
      ...ofResult(returns),
    ]
    return told.map(([rule, parameter, message]) =>
      finding(rule, source.place(source.parameterAt(fun, parameter)), `${fun}: ${message}`),
    )
  })
}

/** Check the options of a plugin. */
export function optionFindings(source: SourceText, plugin: unknown): Finding[] {
  const options = isRecord(plugin) && isRecord(plugin.options) ? plugin.options : {}
  const told = Object.entries(options).flatMap(([name, param]) =>
    isParam(param) ? ofSchema(name, param) : [],
  )
  return told.map(([rule, name, message]) =>
    finding(rule, source.place(source.parameterAt('default', name)), message),
  )
}

const isParam = (value: unknown): value is Param<unknown> => isRecord(value) && isRecord(value.schema)

function ofSchema(name: string, param: Param<unknown>): Told[] {
  const invalid = whyInvalidSchema(param.schema)
  if (invalid !== undefined)
    return [['invalid-schema', name, `The schema of '${name}' cannot be used: ${invalid}.`]]
  if (param.default === undefined) return []
  const wrong = makeCheck({ [name]: param })({ [name]: param.default })
  if (wrong === undefined) return []
  return [
    ['invalid-default', name, `The default does not fit its declaration: ${wrong}. Change one of them.`],
  ]
}

function ofResult(returns: Param<unknown> | undefined): Told[] {
  const invalid = returns && whyInvalidSchema(returns.schema)
  if (invalid === undefined) return []
  return [['invalid-schema', 'returns', `The schema in 'returns' cannot be used: ${invalid}.`]]
}

function ofOrder(params: Params): Told[] {
  const names = positionalNames(params)
  const first = names.findIndex((name) => params[name]?.optional)
  return names
    .slice(Math.max(first, 0))
    .filter((name) => first >= 0 && !params[name]?.optional)
    .map((name) => [
      'required-after-optional',
      name,
      `'${name}' is required, but comes after '${names[first]}', which may be left out, so by position nobody can leave it out. Move '${name}' before it.`,
    ])
}

function ofName(name: string, params: Params): Told[] {
  const kind = params[name]?.kind
  const same = Object.keys(params).find((other) => kind !== 'value' && params[other]?.kind === kind)
  if (same !== undefined && same !== name)
    return [
      [
        'unbindable-parameter',
        name,
        `'${name}' never has a value, since '${same}' takes all further ones. Remove one.`,
      ],
    ]
  if (kind !== 'value' || (KEYWORD.test(`${name}=`) && name !== '__kwarg__')) return []
  return [
    [
      'unbindable-parameter',
      name,
      `'${name}' cannot be given by name on a command line; use letters, digits and _, as in max_size.`,
    ],
  ]
}

function ofSecret(name: string, { schema, secret }: Param<unknown>): Told[] {
  if (secret) return []
  return secretNames(name, schema).map((own) => [
    'undeclared-secret',
    own,
    `'${own}' seems to be a secret, and is shown in logs, events and the job cache; declare it with p.secret(…).`,
  ])
}

/** List the names of secrets in a parameter: its own, or those of the keys of a map. */
function secretNames(name: string, schema: JsonSchema): string[] {
  const keys = isRecord(schema.properties) ? Object.entries(schema.properties) : []
  if (keys.length > 0) return keys.flatMap(([key, inner]) => (isRecord(inner) ? secretNames(key, inner) : []))
  return namesSecret(name) && mayBeText(schema) ? [name] : []
}

const mayBeText = ({ type, anyOf }: JsonSchema): boolean =>
  Array.isArray(anyOf) ? anyOf.some(mayBeText) : type === undefined || type === 'string'
