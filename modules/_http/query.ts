/** The functions `http.query` of minions and masters. */
import { CommandExecutionError, type Context } from 'salt-ts'
import { exists } from '../_file/paths.ts'
import { pythonText } from '../_values/python.ts'
import { entriesOf, isMapping } from '../_values/traverse.ts'
import { bodyOf, decoded, type Form, fileText, formatOf, keepText, renderedFile } from './body.ts'
import { type Answer, addressOf, ask, type Response } from './request.ts'
import { keepSession, sessionHeaders, sessionJar } from './session.ts'
import { xmlItems } from './xml.ts'

interface Credentials {
  readonly header_dict: Readonly<Record<string, string>> | undefined
  readonly header_list: readonly string[] | undefined
  readonly username: string | undefined
  readonly password: string | undefined
  readonly agent: string | undefined
}

/** Return the headers of a request. One that is posted is a form unless the caller says what it is. */
function headersOf(
  { header_dict, header_list = [], username, password = '', agent }: Credentials,
  method: string,
): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(header_dict ?? {})) setHeader(headers, name, value)
  for (const line of header_list) {
    const colon = line.indexOf(':')
    if (colon > 0) setHeader(headers, line.slice(0, colon).trim(), line.slice(colon + 1).trim())
  }
  if (agent !== undefined) setHeader(headers, 'User-Agent', agent)
  if (username !== undefined)
    headers.set('Authorization', `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`)
  if (method === 'POST' && !headers.has('Content-Type'))
    headers.set('Content-Type', 'application/x-www-form-urlencoded')
  return headers
}

/** Set a header. An error does not show its value, which may be a secret. */
function setHeader(headers: Headers, name: string, value: string): void {
  try {
    headers.set(name, value)
  } catch {
    throw new CommandExecutionError(
      `The header ${JSON.stringify(name)} has a name or a value that cannot be sent.`,
    )
  }
}

/** Files of the host. */
interface Files {
  readonly data_file?: string | undefined
  readonly header_file?: string | undefined
  readonly data_render?: boolean
  readonly header_render?: boolean
  readonly data_renderer?: string | undefined
  readonly header_renderer?: string | undefined
  readonly text_out?: string | undefined
  readonly headers_out?: string | undefined
  readonly decode_out?: string | undefined
  readonly ca_bundle?: string | undefined
  readonly cert?: string | readonly string[] | undefined
  readonly persist_session?: boolean
  readonly session_cookie_jar?: string | undefined
}

export interface Query extends Credentials, Files, Form {
  readonly url: string
  readonly method: string
  readonly params: Readonly<Record<string, unknown>> | string | undefined
  readonly data: unknown
  readonly status: boolean | number
  readonly headers: boolean
  readonly text: boolean
  readonly decode: boolean
  readonly decode_type: string
  readonly decode_body: boolean
  readonly timeout: number
  readonly max_body: number
  /** Whether an answer that says an error is a failure. */
  readonly raise_error: boolean
  readonly verify_ssl: boolean
  readonly test: boolean
  readonly test_url: string | undefined
}

type Body = string | Uint8Array | null

export interface QueryResult {
  readonly body?: Body
  readonly text?: Body
  readonly dict?: unknown
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly test?: true
  /** Why the request failed. */
  readonly error?: string
}

type Host = Pick<Context, 'signal' | 'opts' | 'call'>

/** Send a request, and return those parts of the answer that were asked for; of an error all that Salt shows. */
export async function query(wanted: Query, host: Host): Promise<QueryResult> {
  if (wanted.test && wanted.test_url === undefined) return {}
  if (isForm(wanted) && !wanted.formdata_fieldname)
    return { error: 'formdata_fieldname is required when formdata=True' }
  const address = addressOf(wanted.test ? (wanted.test_url as string) : wanted.url, wanted.params)
  const jar = wanted.persist_session ? sessionJar(wanted.session_cookie_jar, host.opts.cachedir) : undefined
  const { timeout, max_body } = wanted
  const request = await requestOf(wanted, jar, host)
  const answer = await ask(address, request, { timeout, max_body, signal: host.signal })
  const result = await resultOf(wanted, answer, address)
  if (jar !== undefined) await keepSession(jar, answer.response.headers['Set-Cookie'])
  return wanted.test ? { test: true, ...result } : result
}

/** Salt makes forms only by the library requests. */
const isForm = ({ formdata, backend }: Query): boolean => formdata && backend === 'requests'

async function requestOf(wanted: Query, jar: string | undefined, host: Host) {
  const { data_file, verify_ssl, ca_bundle, cert } = wanted
  const method = wanted.method.toUpperCase()
  const headers = headersOf({ ...wanted, ...(await fileHeaders(wanted, host)) }, method)
  for (const [name, value] of Object.entries(jar === undefined ? {} : await sessionHeaders(jar)))
    setHeader(headers, name, value)
  const data =
    data_file === undefined
      ? wanted.data
      : await contentOf(data_file, wanted.data_render, wanted.data_renderer, host)
  const form = isForm(wanted) ? wanted : undefined
  const { body, type } = bodyOf(data, headers.get('Content-Type') ?? undefined, form)
  if (type !== undefined) headers.set('Content-Type', type)
  return {
    method,
    headers,
    body,
    trust: { verify_ssl, ca_bundle: ca_bundle ?? textOption(host.opts.ca_bundle), cert },
  }
}

/** Return an option of the configuration that is a text; undefined if it is empty or anything else. */
export const textOption = (value: unknown): string | undefined =>
  typeof value === 'string' && value ? value : undefined

/** Return the headers of a file in place of those that are given. */
async function fileHeaders(wanted: Query, host: Host): Promise<Partial<Credentials>> {
  if (wanted.header_file === undefined) return {}
  const found = await contentOf(wanted.header_file, wanted.header_render, wanted.header_renderer, host)
  if (typeof found === 'string') return { header_list: found.split('\n') }
  if (!isMapping(found))
    throw new CommandExecutionError(`${wanted.header_file} is rendered to neither a map nor a text`)
  return {
    header_dict: Object.fromEntries(entriesOf(found).map(([name, value]) => [name, pythonText(value)])),
  }
}

/** Read a file with what is sent, as it is or rendered. */
const contentOf = (
  path: string,
  isRendered: boolean | undefined,
  renderer: string | undefined,
  { call }: Host,
): Promise<unknown> => (isRendered ? renderedFile(path, renderer, call) : fileText(path))

async function resultOf(wanted: Query, answer: Answer, address: URL): Promise<QueryResult> {
  const { response, text } = answer
  if (wanted.backend === 'requests' && response.status >= 400) {
    const side = response.status < 500 ? 'Client' : 'Server'
    throw new CommandExecutionError(
      `${response.status} ${side} Error: ${response.statusText} for url: ${address.href}`,
    )
  }
  const body = bodyFor(wanted, answer)
  if (!response.ok && wanted.raise_error) {
    const error = `HTTP ${response.status}: ${response.statusText}`
    return { status: response.status, error, body }
  }
  await keepText(wanted.text_out, text)
  await keepHeaders(wanted.headers_out, response)
  return {
    body,
    ...(wanted.status === true && { status: response.status }),
    ...(wanted.headers && { headers: response.headers }),
    ...(await textAndDict(wanted, answer, body)),
  }
}

/** Without `decode_body` bytes, but a text whose encoding the headers name. */
function bodyFor({ decode_body }: Query, { response, bytes, text }: Answer): Body {
  const isNamed = /^text\/.*charset=/i.test(response.headers['Content-Type'] ?? '')
  return decode_body || isNamed ? text : bytes
}

/** Salt writes the headers to a file that is there already. */
async function keepHeaders(path: string | undefined, { headers }: Response): Promise<void> {
  if (path === undefined || !(await exists(path))) return
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\n`)
  await keepText(path, lines.join(''))
}

const DECODE_TYPES = ['json', 'xml', 'yaml', 'plain']

async function textAndDict(wanted: Query, { response, text }: Answer, body: Body): Promise<QueryResult> {
  const asText = wanted.text ? { text: body } : {}
  if (!wanted.decode) return asText
  const format = formatOf(wanted.decode_type, response.headers['Content-Type'])
  if (!DECODE_TYPES.includes(format))
    return {
      error: "Invalid decode_type specified. Valid decode types are: ('json', 'xml', 'yaml', 'plain')",
    }
  const found = format === 'plain' ? { text: body } : { dict: await dictOf(text, format), ...asText }
  await keepText(wanted.decode_out, text)
  return found
}

const dictOf = (text: string, format: string): unknown =>
  format === 'xml' ? xmlItems(text) : decoded(text, format as 'json' | 'yaml')
