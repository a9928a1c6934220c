/** What requests are read from: JSON, YAML, forms, and text that is JSON. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { messageOf, SaltError } from '../base/errors.ts'
import { readJson } from '../base/read-json.ts'
import { parseYamlValue } from '../config/yaml.ts'
import { yamlify } from '../loader/words.ts'
import { formValues } from './form.ts'
import { checkInput } from './input.ts'
import { refusal } from './problems.ts'

type Read = (text: string) => unknown

export const FORM = 'application/x-www-form-urlencoded'

const READERS: Readonly<Record<string, Read>> = {
  'application/json': (text) => read('JSON', text, readJson),
  'application/x-yaml': (text) => read('YAML', text, parseYamlValue),
  'application/yaml': (text) => read('YAML', text, parseYamlValue),
  'text/yaml': (text) => read('YAML', text, parseYamlValue),
  [FORM]: readForm,
  'text/plain': readText,
}

/** Bodies are values afterwards, checked, and undefined if there was none. `largest` is that of a request in bytes. */
export function readBodies(app: FastifyInstance, largest: number): void {
  app.removeAllContentTypeParsers()
  for (const type of Object.keys(READERS)) {
    app.addContentTypeParser(type, { parseAs: 'buffer' }, async (_: FastifyRequest, body: Buffer) => {
      const text = decoded(body)
      return text.trim() === '' ? undefined : readBody(type, text, largest)
    })
  }
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (_: FastifyRequest, body: Buffer) => {
    if (body.length === 0) return undefined
    throw refusal(406, `Content type not supported. This server reads ${Object.keys(READERS).join(', ')}.`)
  })
}

/**
 * What a text is by its content type, checked; undefined if texts of this type are not read.
 * @throws SaltError INVALID_ARGUMENTS, TOO_LARGE
 */
export function readBody(contentType: string, text: string, largest: number): unknown {
  const type = contentType.replace(/;.*/s, '').trim().toLowerCase()
  const reader = Object.hasOwn(READERS, type) ? READERS[type] : undefined
  return reader && checkInput(reader(text), 2 * largest)
}

function decoded(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    throw new SaltError('INVALID_ARGUMENTS', 'The request is not UTF-8.')
  }
}

function read(kind: string, text: string, reader: Read): unknown {
  try {
    return reader(text)
  } catch (error) {
    throw new SaltError('INVALID_ARGUMENTS', `Invalid ${kind} document: ${messageOf(error)}`)
  }
}

/** Some services send JSON without saying so. */
function readText(text: string): unknown {
  try {
    return readJson(text)
  } catch {
    return text
  }
}

/** Repeated names become a list; `arg` and `kwarg` are read like words of a command line. */
function readForm(text: string): unknown {
  const members = [...formValues(text)].map(
    ([name, all]) => [name, all.filter((value) => value !== '')] as const,
  )
  const given = members.filter(([, values]) => values.length > 0)
  return Object.fromEntries(given.map(([name, values]) => [name, formValue(name, values)]))
}

function formValue(name: string, values: readonly string[]): unknown {
  if (name === 'arg') return values.map(yamlify)
  if (values.length > 1) return values
  return name === 'kwarg' ? yamlify(values[0]) : values[0]
}
