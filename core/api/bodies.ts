/** Parsers of request bodies: JSON, YAML, forms, and plain text that holds JSON. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { messageOf, SaltError } from '../base/errors.ts'
import { parseYamlValue } from '../config/yaml.ts'
import { readJson } from '../dialect/read-json.ts'
import { yamlify } from '../loader/calls/words.ts'
import { httpError } from './http-errors.ts'
import { checkInput } from './input.ts'

type Parse = (text: string) => unknown

export const FORM = 'application/x-www-form-urlencoded'

const PARSERS: Readonly<Record<string, Parse>> = {
  'application/json': (text) => parseAs('JSON', text, readJson),
  'application/x-yaml': (text) => parseAs('YAML', text, parseYamlValue),
  'application/yaml': (text) => parseAs('YAML', text, parseYamlValue),
  'text/yaml': (text) => parseAs('YAML', text, parseYamlValue),
  [FORM]: readForm,
  'text/plain': readText,
}

/** Register the parsers. Bodies become checked values; an empty body is undefined. */
export function registerBodyParsers(app: FastifyInstance, maxBytes: number): void {
  app.removeAllContentTypeParsers()
  for (const type of Object.keys(PARSERS)) {
    app.addContentTypeParser(type, { parseAs: 'buffer' }, async (_: FastifyRequest, body: Buffer) => {
      const text = decoded(body)
      return text.trim() === '' ? undefined : parseBody(type, text, maxBytes)
    })
  }
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (_: FastifyRequest, body: Buffer) => {
    if (body.length === 0) return undefined
    throw httpError(406, `Content type not supported. This server reads ${Object.keys(PARSERS).join(', ')}.`)
  })
}

/**
 * Parse a text as its content type says, and check the value. Undefined for content types that have no parser.
 * @throws SaltError INVALID_ARGUMENTS, TOO_LARGE
 */
export function parseBody(contentType: string, text: string, maxBytes: number): unknown {
  const type = contentType.replace(/;.*/s, '').trim().toLowerCase()
  const reader = Object.hasOwn(PARSERS, type) ? PARSERS[type] : undefined
  return reader && checkInput(reader(text), 2 * maxBytes)
}

function decoded(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    throw new SaltError('INVALID_ARGUMENTS', 'The request is not UTF-8.')
  }
}

function parseAs(kind: string, text: string, reader: Parse): unknown {
  try {
    return reader(text)
  } catch (error) {
    throw new SaltError('INVALID_ARGUMENTS', `Invalid ${kind} document: ${messageOf(error)}`)
  }
}

/** Return the JSON value if the text is JSON, else the text: some services send JSON as text/plain. */
function readText(text: string): unknown {
  try {
    return readJson(text)
  } catch {
    return text
  }
}

/**
 * Parse a form. Repeated names become a list; `arg` and `kwarg` are parsed as on a command line. Empty values are
 * dropped.
 */
function readForm(text: string): unknown {
  const members = [...formValues(text)].map(
    ([name, all]) => [name, all.filter((value) => value !== '')] as const,
  )
  const given = members.filter(([, values]) => values.length > 0)
  return Object.fromEntries(given.map(([name, values]) => [name, formValue(name, values)]))
}

/** Group the values of a form (`a=1&b=2&a=3`) by name, in the order they came. */
function formValues(text: string): Map<string, string[]> {
  const values = new Map<string, string[]>()
  for (const [name, value] of new URLSearchParams(text)) {
    const all = values.get(name)
    if (all) all.push(value)
    else values.set(name, [value])
  }
  return values
}

function formValue(name: string, values: readonly string[]): unknown {
  if (name === 'arg') return values.map(yamlify)
  if (values.length > 1) return values
  return name === 'kwarg' ? yamlify(values[0]) : values[0]
}
