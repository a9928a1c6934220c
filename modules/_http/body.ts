/** Bodies of HTTP requests and responses. */
import { CommandExecutionError, jsonText } from 'salt-ts'
import { withPlace } from '../_file/place.ts'
import { readWhole } from '../_file/reading.ts'
import { writeContent } from '../_file/text.ts'
import { fromYaml } from '../_slsutil/yaml.ts'
import { pythonText } from '../_values/python.ts'
import { entriesOf, isMapping, type Mapping } from '../_values/traverse.ts'

/**
 * Return the request body. Maps are sent as a form, and as JSON if the headers say so; lists are sent as JSON. Bytes,
 * since fetch would declare text as `text/plain`.
 */
export function bodyOf(data: unknown, contentType: string | undefined): { body?: Uint8Array } {
  if (data === undefined || data === null) return {}
  return { body: Buffer.from(textToSend(data, contentType)) }
}

function textToSend(data: unknown, contentType: string | undefined): string {
  if (typeof data !== 'object') return String(data)
  return isMapping(data) && !contentType?.includes('json') ? formOf(data) : jsonText(data)
}

const formOf = (data: Mapping): string =>
  new URLSearchParams(
    entriesOf(data).map(([name, value]): [string, string] => [name, pythonText(value)]),
  ).toString()

/** Read a file with what is sent. @throws CommandExecutionError if it cannot be read, or is too big */
export const fileText = async (path: string): Promise<string> => (await readWhole(path)).toString('utf8')

/** Keep the text of a response in a file, as `file.write` does. */
export async function keepText(path: string | undefined, text: string): Promise<void> {
  if (path !== undefined) await withPlace(path, (place) => writeContent(place, text))
}

/** Read the text of a response. Rejects, without reading on, if it is longer than `most` bytes. */
export async function readLimited(response: Response, most: number): Promise<string> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of response.body ?? []) {
    size += part.length
    if (size > most) {
      throw new CommandExecutionError(
        `The response of ${response.url} has more than ${most} bytes. Raise max_body to allow it.`,
      )
    }
    parts.push(part)
  }
  return textIn(charsetOf(response.headers.get('content-type')), Buffer.concat(parts))
}

const charsetOf = (contentType: string | null): string =>
  /charset="?([\w-]+)/i.exec(contentType ?? '')?.[1] ?? 'utf-8'

/** Decode in an encoding, or as UTF-8 if it is not known. A byte order mark stays. */
function textIn(charset: string, bytes: Buffer): string {
  try {
    return new TextDecoder(charset, { ignoreBOM: true }).decode(bytes)
  } catch {
    return bytes.toString('utf8')
  }
}

/** Return the format of a text: `type`, or with `auto` what the headers say. */
export function formatOf(type: string, contentType: string | null): string {
  if (type !== 'auto') return type
  const said = contentType ?? 'application/json'
  return ['xml', 'json', 'yaml'].find((format) => said.includes(format)) ?? 'plain'
}

/** Return what a text in JSON or YAML says. @throws CommandExecutionError if it is not valid */
export async function decoded(text: string, format: 'json' | 'yaml'): Promise<unknown> {
  try {
    return format === 'json' ? JSON.parse(text) : await fromYaml(text)
  } catch (error) {
    throw new CommandExecutionError(
      `The body is not valid ${format.toUpperCase()}: ${(error as Error).message}`,
    )
  }
}
