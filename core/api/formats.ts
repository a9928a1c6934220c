/** Formats of answers: JSON, YAML or HTML, as the `Accept` header asks. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Log } from '../author/context.ts'
import type { Outputter } from '../author/kinds.ts'
import { isRecord } from '../base/record.ts'
import type { MasterConfig } from '../config/index.ts'
import { htmlText } from '../dialect/html-text.ts'
import { jsonText } from '../dialect/json.ts'
import { openLoader } from '../loader/index.ts'
import { httpError } from './http-errors.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route has one format whatever `Accept` says. Its errors are JSON. */
    readonly fixedFormat?: true
  }
}

interface Format {
  readonly type: string
  write(value: unknown): string
}

type Formats = readonly Format[]

/** List the formats. The first is the default. */
export async function openFormats(config: MasterConfig, log: Log): Promise<Formats> {
  const yaml = await openLoader('outputters', { config, log }).plugin<Outputter>('yaml')
  const toYaml = (value: unknown) => `${yaml.render(decodeBytes(value), { color: false })}\n`
  return [
    { type: 'application/json', write: toJson },
    { type: 'application/x-yaml', write: toYaml },
    { type: 'text/yaml', write: toYaml },
    { type: 'text/html', write: toHtml },
  ]
}

/**
 * Create a hook that chooses the format of the answer. Values are serialized; texts and streams are sent as they are.
 */
export function negotiateFormat(formats: Formats) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    let format = formats[0] as Format
    reply.serializer((value: unknown) => {
      if (typeof value === 'string') return value
      if (!reply.hasHeader('content-type')) reply.type(contentTypeOf(format))
      return format.write(value)
    })
    reply.header('X-Content-Type-Options', 'nosniff')
    if (!request.routeOptions.config.fixedFormat) format = formatFor(request.headers.accept, formats)
  }
}

/** Return the content type. JSON has no charset parameter, and some clients compare the whole header. */
const contentTypeOf = ({ type }: Format): string =>
  type === 'application/json' ? type : `${type}; charset=utf-8`

/** Decode bytes as UTF-8. Invalid ones become U+FFFD, so that one byte does not fail the whole answer. */
const textOf = (value: unknown): string =>
  value instanceof Uint8Array ? new TextDecoder().decode(value) : String(value)

const toJson = (value: unknown): string => jsonText(value, { other: textOf })

/** Convert bytes to text everywhere in a value. YAML would write them as `!!binary`. */
function decodeBytes(value: unknown): unknown {
  if (value instanceof Uint8Array) return textOf(value)
  if (Array.isArray(value)) return value.map(decodeBytes)
  if (value instanceof Map)
    return new Map([...value].map(([key, member]) => [decodeBytes(key), decodeBytes(member)]))
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, decodeBytes(member)]))
}

function toHtml(value: unknown): string {
  const text = htmlText(jsonText(value, { step: 2, other: textOf }))
  return `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>salt-api</title></head><body><pre>${text}</pre></body></html>\n`
}

/**
 * Choose the format with the highest quality in the `Accept` header; of equal ones the first.
 * @throws SaltError with status 406
 */
function formatFor(accept: string | undefined, formats: Formats): Format {
  const wanted = parseAccept(accept ?? '*/*')
  const rated = formats.map((format) => ({ format, quality: qualityOf(format.type, wanted) }))
  const best = rated.reduce((found, next) => (next.quality > found.quality ? next : found))
  if (best.quality > 0) return best.format
  const types = formats.map(({ type }) => type).join(', ')
  throw httpError(406, `This server cannot answer in ${accept}. It has: ${types}.`)
}

interface Wanted {
  readonly range: string
  readonly quality: number
}

function parseAccept(accept: string): Wanted[] {
  return accept.split(',').map((part) => {
    const [range = '', ...parameters] = part.split(';').map((word) => word.trim().toLowerCase())
    const q = parameters.find((parameter) => parameter.startsWith('q='))
    const quality = q === undefined ? 1 : Number(q.slice(2))
    return { range, quality: Number.isFinite(quality) ? quality : 0 }
  })
}

/** Return the quality of a type: that of the most specific range that matches it. */
function qualityOf(type: string, wanted: readonly Wanted[]): number {
  const ranges = [type, type.replace(/\/.*/, '/*'), '*/*']
  for (const range of ranges) {
    const found = wanted.find((each) => each.range === range)
    if (found) return found.quality
  }
  return 0
}
