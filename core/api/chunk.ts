/** Chunks of a lowstate: one command each ("low data"). Their members in one form, and the schema of each member. */

import { type Args, type Param, p } from '../author/params.ts'
import { closest } from '../base/closest.ts'
import { SaltError } from '../base/errors.ts'
import { isRecord } from '../base/record.ts'
import { Float } from '../dialect/float.ts'
import { yamlify } from '../loader/calls/words.ts'
import { demandOf, typeDemand } from '../loader/offer/demands.ts'

export type Chunk = Readonly<Record<string, unknown>>

/** Members with credentials, besides `eauth`. */
export const CREDENTIALS = ['username', 'password', 'sharedsecret', 'id_token'] as const

const text = p.optional(p.string())
const texts = p.optional(p.union(p.string(), p.array(p.string())))
const seconds = p.optional(p.number({ minimum: 0 }))
const flag = p.optional(p.boolean())
const map = p.optional(p.record(p.any()))
const fun = p.union(p.string({ minLength: 1 }), p.array(p.string(), { minItems: 1 }))

/** Members for every client. */
const COMMON = {
  client: text,
  fun: p.optional(fun),
  arg: p.optional(p.array(p.any())),
  kwarg: map,
  full_return: flag,
  timeout: seconds,
  token: text,
  eauth: text,
  username: text,
  password: text,
  sharedsecret: text,
  id_token: text,
  raw_shell: flag,
}

/** Members for the clients that publish jobs. Runner and wheel clients pass all other members on as keyword arguments. */
const LOCAL = {
  tgt: p.union(p.string(), p.array(p.string())),
  fun,
  tgt_type: text,
  ret: texts,
  jid: text,
  gather_job_timeout: seconds,
  delimiter: text,
  metadata: map,
  module_executors: texts,
  executor_opts: map,
  ret_config: text,
  ret_kwargs: map,
  batch: p.optional(p.union(p.string(), p.integer())),
  batch_wait: seconds,
  failhard: flag,
  subset: p.optional(p.integer({ minimum: 1 })),
  check: flag,
  deliver_within: seconds,
}

/** A chunk for a client that publishes jobs, as `lowstateSchema` checks it. */
export type LocalChunk = Args<typeof COMMON & typeof LOCAL>

/** Other names for members: Salt's old one, and one of salt-ts. */
const ALIASES: Readonly<Record<string, string>> = { expr_form: 'tgt_type', sub: 'subset' }

const KNOWN = { ...COMMON, ...LOCAL }

const isLocal = { properties: { client: { type: 'string', pattern: '^local' } }, required: ['client'] }

/** Return the JSON schema of the chunks of one request. */
export const lowstateSchema = (maxChunks: number) => ({
  type: 'array',
  maxItems: maxChunks,
  items: {
    ...p.object(COMMON).schema,
    additionalProperties: true,
    if: isLocal,
    // biome-ignore lint/suspicious/noThenProperty: the word of JSON Schema
    then: { ...p.object(LOCAL).schema, additionalProperties: true },
  },
})

/**
 * Return the chunks of a request body, which is one map or a list of maps. Null members are left out; texts are
 * parsed where the member has another type. `client` is set in every chunk if it is given.
 * @throws SaltError INVALID_ARGUMENTS
 */
export function readLowstate(body: unknown, client?: string): Chunk[] {
  const chunks = isRecord(body) && Object.keys(body).length > 0 ? [body] : body
  if (!Array.isArray(chunks)) throw new SaltError('INVALID_ARGUMENTS', 'Lowstates must be a list.')
  return chunks.map((chunk: unknown, index) => {
    if (isRecord(chunk)) return readChunk(client === undefined ? chunk : { ...chunk, client }, index)
    throw new SaltError('INVALID_ARGUMENTS', `Chunk ${index + 1} of the request must be a map.`)
  })
}

type Members = Readonly<Record<string, Param<unknown>>>

function readChunk(given: Chunk, index: number): Chunk {
  const isPublished = typeof given.client === 'string' && given.client.startsWith('local')
  const known: Members = isPublished ? KNOWN : COMMON
  const chunk: Record<string, unknown> = {}
  for (const [written, value] of Object.entries(given)) {
    const name = isPublished ? (ALIASES[written] ?? written) : written
    const schema = Object.hasOwn(known, name) ? known[name]?.schema : undefined
    if (schema && value === null) continue
    if (schema) chunk[name] = convert(name, value, schema)
    else if (!schema && isPublished) refuseNearMiss(name, index)
    else if (!schema) chunk[name] = value
  }
  if (!isPublished) return withPositional(chunk)
  refuseJoinedFunctions(chunk, index)
  return chunk
}

/** Accept `args` as a name for `arg`: some clients of Salt's API (pepper) send positional arguments of runners so. */
function withPositional({ args, ...chunk }: Record<string, unknown>): Chunk {
  if (args === undefined) return chunk
  return Array.isArray(args) && chunk.arg === undefined ? { ...chunk, arg: args } : { ...chunk, args }
}

function convert(name: string, value: unknown, schema: object): unknown {
  if (name === 'arg') return Array.isArray(value) ? value : [value]
  if (value instanceof Float) return value.valueOf()
  const { type } = schema as { type?: unknown }
  return typeof value === 'string' && type !== undefined && type !== 'string' ? yamlify(value) : value
}

/** Refuse `"a.b,c.d"`: no access rule can match such a name, and no minion has such a function. */
function refuseJoinedFunctions({ fun }: Chunk, index: number): void {
  if (typeof fun !== 'string' || !fun.includes(',')) return
  const list = fun.split(',').map((name) => JSON.stringify(name.trim()))
  throw new SaltError(
    'INVALID_ARGUMENTS',
    `Chunk ${index + 1} of the request has several functions in one text, "${fun}": make them a list, as [${list.join(', ')}].`,
  )
}

/**
 * Refuse a member that is most likely a misspelt one, such as `tgt_typ`: dropping it would make this another command.
 * Other unknown members are dropped, as in Salt.
 */
function refuseNearMiss(name: string, index: number): void {
  const similar = closest(name, Object.keys(KNOWN))
  if (similar === undefined) return
  throw new SaltError(
    'INVALID_ARGUMENTS',
    `Chunk ${index + 1} of the request has a member '${name}', which is not known. Did you mean '${similar}'?`,
  )
}

/** Make a sentence of ajv's errors, for fastify's `schemaErrorFormatter`. */
export function schemaError(errors: readonly AjvError[]): SaltError {
  const { instancePath, keyword, params } = mostRelevant(errors)
  const [, index, ...inside] = instancePath.split('/')
  const member = inside.length > 0 ? `${inside.join(':')} of chunk` : 'Chunk'
  const place = index === undefined ? 'A request' : `${member} ${Number(index) + 1} of the request`
  return new SaltError('INVALID_ARGUMENTS', `${place} ${problemOf(keyword, params, inside[0])}.`)
}

/**
 * Choose the error to report. Of an `anyOf`, report the choice as a whole, unless the value has the type of one of
 * its members.
 */
function mostRelevant(errors: readonly AjvError[]): AjvError {
  const choice = errors.find(({ keyword }) => keyword === 'anyOf')
  const isInside = ({ keyword, instancePath }: AjvError) =>
    keyword !== 'type' || instancePath !== choice?.instancePath
  return errors.find((error) => error !== choice && isInside(error)) ?? choice ?? errors[0] ?? NO_ERROR
}

function problemOf(keyword: string, params: AjvError['params'], member = ''): string {
  if (keyword === 'maxItems') return `may have at most ${params.limit} maps (max_chunks)`
  if (keyword === 'required') return `lacks '${params.missingProperty}'`
  if (keyword === 'type') return typeDemand([{ type: params.type as string }], undefined)
  return keyword === 'anyOf'
    ? typeDemand([(KNOWN as Members)[member]?.schema ?? {}], undefined)
    : demandOf(keyword, params.limit)
}

const NO_ERROR: AjvError = { instancePath: '', keyword: '', params: {} }

interface AjvError {
  readonly instancePath: string
  readonly keyword: string
  readonly params: Readonly<Record<string, unknown>>
}
