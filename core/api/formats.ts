/** What answers are written in: JSON, YAML or HTML, as `Accept` asks. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Log } from '../author/context.ts'
import type { Outputter } from '../author/kinds.ts'
import { jsonText } from '../base/json.ts'
import type { MasterConfig } from '../config/index.ts'
import { openLoader } from '../loader/index.ts'
import { refusal } from './problems.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What it answers has one form, whatever Accept says; refusals are JSON. */
    readonly writesItself?: true
  }
}

interface Format {
  readonly type: string
  write(value: unknown): string
}

type Formats = readonly Format[]

/** The first one is given to who accepts anything. */
export async function openFormats(config: MasterConfig, log: Log): Promise<Formats> {
  const yaml = await openLoader('outputters', { config, log }).plugin<Outputter>('yaml')
  const toYaml = (value: unknown) => `${yaml.render(readable(value), { color: false })}\n`
  return [
    { type: 'application/json', write: toJson },
    { type: 'application/x-yaml', write: toYaml },
    { type: 'text/yaml', write: toYaml },
    { type: 'text/html', write: toHtml },
  ]
}

/** A hook: values are written as the request asks, texts and streams are as they are. */
export function answerIn(formats: Formats) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    let format = formats[0] as Format
    reply.serializer((value: unknown) => {
      if (typeof value === 'string') return value
      if (!reply.hasHeader('content-type')) reply.type(contentTypeOf(format))
      return format.write(value)
    })
    reply.header('X-Content-Type-Options', 'nosniff')
    if (!request.routeOptions.config.writesItself) format = formatFor(request.headers.accept, formats)
  }
}

/** Of JSON without a charset, which it cannot have, and which some clients compare with. */
const contentTypeOf = ({ type }: Format): string =>
  type === 'application/json' ? type : `${type}; charset=utf-8`

/** Bytes are read as UTF-8; what is none becomes U+FFFD, so that one byte does not cost the whole answer. */
const textOf = (value: unknown): string =>
  value instanceof Uint8Array ? new TextDecoder().decode(value) : String(value)

const toJson = (value: unknown): string => jsonText(value, { other: textOf })

/** The same choice for YAML, which would have a form for bytes. */
function readable(value: unknown): unknown {
  if (value instanceof Uint8Array) return textOf(value)
  if (Array.isArray(value)) return value.map(readable)
  if (value instanceof Map)
    return new Map([...value].map(([key, member]) => [readable(key), readable(member)]))
  if (typeof value !== 'object' || value === null || !isPlain(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, readable(member)]))
}

const isPlain = (value: object): boolean => [Object.prototype, null].includes(Object.getPrototypeOf(value))

function toHtml(value: unknown): string {
  const text = escaped(jsonText(value, { step: 2, other: textOf }))
  return `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>salt-api</title></head><body><pre>${text}</pre></body></html>\n`
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => ENTITIES[character] as string)

/**
 * The format an `Accept` header likes best; of equal ones the one that is earlier here.
 * @throws SaltError with status 406
 */
function formatFor(accept: string | undefined, formats: Formats): Format {
  const wanted = parseAccept(accept ?? '*/*')
  const liked = formats.map((format) => ({ format, quality: qualityOf(format.type, wanted) }))
  const best = liked.reduce((found, next) => (next.quality > found.quality ? next : found))
  if (best.quality > 0) return best.format
  const types = formats.map(({ type }) => type).join(', ')
  throw refusal(406, `This server cannot answer in ${accept}. It has: ${types}.`)
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

/** The most exact of what was said about a type counts. */
function qualityOf(type: string, wanted: readonly Wanted[]): number {
  const ranges = [type, type.replace(/\/.*/, '/*'), '*/*']
  for (const range of ranges) {
    const said = wanted.find((each) => each.range === range)
    if (said) return said.quality
  }
  return 0
}
