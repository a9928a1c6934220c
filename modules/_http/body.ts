/** Bodies of HTTP requests and responses. */
import { randomBytes } from 'node:crypto'
import { CommandExecutionError, type Context, jsonText, untyped } from 'salt-ts'
import { withPlace } from '../_file/place.ts'
import { readWhole } from '../_file/reading.ts'
import { writeContent } from '../_file/text.ts'
import { fromYaml } from '../_slsutil/yaml.ts'
import { pythonText } from '../_values/python.ts'
import { entriesOf, isMapping, type Mapping } from '../_values/traverse.ts'

/** A form with a file in it. */
export interface Form {
  readonly backend: string | undefined
  readonly formdata: boolean
  readonly formdata_fieldname: string | undefined
  readonly formdata_filename: string | undefined
}

interface RequestBody {
  readonly body?: Buffer
  /** The content type that the body needs. */
  readonly type?: string
}

/**
 * Return the request body. Maps are sent as a form, and as JSON if the headers say so; lists are sent as JSON. With `form`, the
 * data is a file in it.
 */
export function bodyOf(data: unknown, contentType: string | undefined, form?: Form): RequestBody {
  if (data === undefined || data === null) return {}
  const text = textToSend(data, contentType)
  return form ? multipart(text, form) : { body: Buffer.from(text) }
}

function multipart(text: string, { formdata_fieldname, formdata_filename }: Form): RequestBody {
  const boundary = randomBytes(16).toString('hex')
  const file = formdata_filename === undefined ? '' : `; filename="${quoted(formdata_filename)}"`
  const head = `Content-Disposition: form-data; name="${quoted(formdata_fieldname ?? '')}"${file}`
  const body = `--${boundary}\r\n${head}\r\n\r\n${text}\r\n--${boundary}--\r\n`
  return { body: Buffer.from(body), type: `multipart/form-data; boundary=${boundary}` }
}

/** Write a name as browsers do, so that it stays within its quotes. */
const quoted = (name: string): string =>
  name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A')

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

/** Render a file with what is sent, as templates of Salt are. Minions can; the runner takes no files. */
export const renderedFile = (
  path: string,
  renderer: string | undefined,
  call: Context['call'],
): Promise<unknown> => call(untyped('slsutil.renderer'), { path, default_renderer: renderer ?? 'jinja|yaml' })

const charsetOf = (contentType: string | undefined): string =>
  /charset="?([\w-]+)/i.exec(contentType ?? '')?.[1] ?? 'utf-8'

/** Decode in the encoding that the headers name, or as UTF-8 if it is not known. A byte order mark stays. */
export function textIn(bytes: Buffer, contentType: string | undefined): string {
  try {
    return new TextDecoder(charsetOf(contentType), { ignoreBOM: true }).decode(bytes)
  } catch {
    return bytes.toString('utf8')
  }
}

/** Return the format of a text: `type`, or with `auto` what the headers say. */
export function formatOf(type: string, contentType: string | undefined): string {
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
