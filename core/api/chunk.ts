/** One command of a request ("low data"): its members in one form, and what each may be. */
import type { JsonSchema } from '../author/params.ts'
import { closest } from '../base/closest.ts'
import { SaltError } from '../base/errors.ts'
import { Float } from '../base/float.ts'
import { demandOf, typeDemand } from '../loader/demands.ts'
import { yamlify } from '../loader/words.ts'
import { isRecord } from '../wire/bytes.ts'

export type Chunk = Readonly<Record<string, unknown>>

const TEXT = { type: 'string' }
const SECONDS = { type: 'number', minimum: 0 }
const FLAG = { type: 'boolean' }
const TEXTS = { type: 'array', items: TEXT }

/** What a chunk proves who asks by, besides what /login takes. */
export const CREDENTIALS = ['username', 'password', 'sharedsecret', 'id_token'] as const

/** Of every client. */
const COMMON = {
  client: TEXT,
  fun: {
    anyOf: [
      { ...TEXT, minLength: 1 },
      { ...TEXTS, minItems: 1 },
    ],
  },
  arg: { type: 'array' },
  kwarg: { type: 'object' },
  full_return: FLAG,
  timeout: SECONDS,
  token: TEXT,
  eauth: TEXT,
  username: TEXT,
  password: TEXT,
  sharedsecret: TEXT,
  id_token: TEXT,
  raw_shell: FLAG,
}

/** Of the clients that publish. Runners and wheel functions take all other members as keyword arguments. */
const LOCAL = {
  tgt: { anyOf: [TEXT, TEXTS] },
  tgt_type: TEXT,
  ret: { anyOf: [TEXT, TEXTS] },
  jid: TEXT,
  gather_job_timeout: SECONDS,
  delimiter: TEXT,
  metadata: { type: 'object' },
  module_executors: { anyOf: [TEXT, TEXTS] },
  executor_opts: { type: 'object' },
  ret_config: TEXT,
  ret_kwargs: { type: 'object' },
  batch: { anyOf: [TEXT, { type: 'integer' }] },
  batch_wait: SECONDS,
  failhard: FLAG,
  subset: { type: 'integer', minimum: 1 },
  check: FLAG,
}

/** Salt's other names for members, and ours. */
const ALIASES: Readonly<Record<string, string>> = { expr_form: 'tgt_type', sub: 'subset' }

const KNOWN: Readonly<Record<string, JsonSchema>> = { ...COMMON, ...LOCAL }

const isLocal = { properties: { client: { ...TEXT, pattern: '^local' } }, required: ['client'] }

/** A JSON schema: of the chunks of one request. */
export const lowstateSchema = (most: number) => ({
  type: 'array',
  maxItems: most,
  items: {
    type: 'object',
    properties: COMMON,
    if: isLocal,
    // biome-ignore lint/suspicious/noThenProperty: the word of JSON Schema
    then: { properties: LOCAL, required: ['tgt', 'fun'] },
  },
})

/**
 * The chunks of a request: one or several maps, null members left out, texts read where another type is wanted.
 * `client` is put into each if it is said. Throws INVALID_ARGUMENTS for what is no lowstate.
 */
export function readLowstate(body: unknown, client?: string): Chunk[] {
  const chunks = isRecord(body) && Object.keys(body).length > 0 ? [body] : body
  if (!Array.isArray(chunks)) throw new SaltError('INVALID_ARGUMENTS', 'Lowstates must be a list')
  return chunks.map((chunk: unknown, index) => {
    if (isRecord(chunk)) return readChunk(client === undefined ? chunk : { ...chunk, client }, index)
    throw new SaltError('INVALID_ARGUMENTS', `Chunk ${index + 1} of the request must be a map.`)
  })
}

function readChunk(given: Chunk, index: number): Chunk {
  const isPublished = String(given.client).startsWith('local')
  const known: Readonly<Record<string, object>> = isPublished ? KNOWN : COMMON
  const chunk: Record<string, unknown> = {}
  for (const [written, value] of Object.entries(given)) {
    const name = isPublished ? (ALIASES[written] ?? written) : written
    const schema = Object.hasOwn(known, name) ? known[name] : undefined
    if (schema && value === null) continue
    if (schema) chunk[name] = typed(name, value, schema)
    else if (!schema && isPublished) refuseNearMiss(name, index)
    else if (!schema) chunk[name] = value
  }
  if (!isPublished) return withPositional(chunk)
  refuseSeveralInOneText(chunk, index)
  return chunk
}

/** Clients of Salt name positional arguments of runners `args`. */
function withPositional({ args, ...chunk }: Record<string, unknown>): Chunk {
  if (args === undefined) return chunk
  return Array.isArray(args) && chunk.arg === undefined ? { ...chunk, arg: args } : { ...chunk, args }
}

function typed(name: string, value: unknown, schema: object): unknown {
  if (name === 'arg') return Array.isArray(value) ? value : [value]
  if (name === 'ret' && Array.isArray(value) && value.every((each) => typeof each === 'string'))
    return value.join(',')
  if (value instanceof Float) return value.valueOf()
  const { type } = schema as { type?: unknown }
  return typeof value === 'string' && type !== undefined && type !== 'string' ? yamlify(value) : value
}

/** No rule can be for such a name, and no minion has a function of it. */
function refuseSeveralInOneText({ fun }: Chunk, index: number): void {
  if (typeof fun !== 'string' || !fun.includes(',')) return
  const list = fun.split(',').map((name) => JSON.stringify(name.trim()))
  throw new SaltError(
    'INVALID_ARGUMENTS',
    `Chunk ${index + 1} of the request has several functions in one text, "${fun}": make them a list, as [${list.join(', ')}].`,
  )
}

/** Members nobody knows are left out, as Salt does. One that was meant to be another would make this another command. */
function refuseNearMiss(name: string, index: number): void {
  const meant = closest(name, Object.keys(KNOWN))
  if (meant === undefined) return
  throw new SaltError(
    'INVALID_ARGUMENTS',
    `Chunk ${index + 1} of the request has a member '${name}', which is not known. Did you mean '${meant}'?`,
  )
}

/** For fastify: what ajv found, as a sentence. */
export function schemaProblem(errors: readonly SchemaError[]): SaltError {
  const { instancePath, keyword, params } = decisive(errors)
  const [, index, ...inside] = instancePath.split('/')
  const member = inside.length > 0 ? `${inside.join(':')} of chunk` : 'Chunk'
  const place = index === undefined ? 'A request' : `${member} ${Number(index) + 1} of the request`
  return new SaltError('INVALID_ARGUMENTS', `${place} ${problemOf(keyword, params, inside[0])}.`)
}

/** A choice is told as a whole, unless the value is of the type of one of its members. */
function decisive(errors: readonly SchemaError[]): SchemaError {
  const choice = errors.find(({ keyword }) => keyword === 'anyOf')
  const isInside = ({ keyword, instancePath }: SchemaError) =>
    keyword !== 'type' || instancePath !== choice?.instancePath
  return errors.find((error) => error !== choice && isInside(error)) ?? choice ?? errors[0] ?? NO_ERROR
}

function problemOf(keyword: string, params: SchemaError['params'], member = ''): string {
  if (keyword === 'maxItems') return `may have ${params.limit} maps at most (max_chunks)`
  if (keyword === 'required') return `lacks '${params.missingProperty}'`
  if (keyword === 'type') return typeDemand([{ type: params.type as string }], undefined)
  return keyword === 'anyOf' ? typeDemand([KNOWN[member] ?? {}], undefined) : demandOf(keyword, params.limit)
}

const NO_ERROR: SchemaError = { instancePath: '', keyword: '', params: {} }

interface SchemaError {
  readonly instancePath: string
  readonly keyword: string
  readonly params: Readonly<Record<string, unknown>>
}
