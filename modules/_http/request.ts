/** HTTP requests of the functions `http.*`, on minions and on masters. */
import { CommandExecutionError } from 'salt-ts'
import { bodyOf, decoded, fileText, formatOf, keepText, readLimited } from './body.ts'

export interface Limits {
  /** Seconds. */
  readonly timeout: number
  readonly max_body: number
  readonly signal: AbortSignal
}

export interface Answer {
  readonly response: Response
  readonly text: string
}

/** No server answered, or the answer is too long. */
export class NoAnswer extends CommandExecutionError {}

/** Send a request and read the answer. @throws NoAnswer if there is none, or if it is too long */
export async function ask(
  address: URL,
  request: RequestInit,
  { timeout, max_body, signal }: Limits,
): Promise<Answer> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeout * 1000)])
  try {
    const response = await followed(address, { ...request, signal: limit })
    return { response, text: await readLimited(response, max_body) }
  } catch (error) {
    signal.throwIfAborted()
    throw new NoAnswer(`${address.origin} did not answer: ${reasonOf(error, timeout)}`)
  }
}

const MAX_REDIRECTS = 20
const REDIRECTS = [301, 302, 303, 307, 308]

/**
 * Send a request and follow redirects. Another origin gets neither the headers nor the body of the caller, which may hold tokens: fetch
 * itself would leave out only `Authorization`.
 */
async function followed(given: URL, first: RequestInit): Promise<Response> {
  let [address, request] = [given, first]
  for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
    const response = await fetch(address, { ...request, redirect: 'manual' })
    const place = REDIRECTS.includes(response.status) ? response.headers.get('location') : null
    if (place === null) return response
    const next = new URL(place, address)
    if (!/^https?:$/.test(next.protocol)) throw new Error(`it redirects to ${next.protocol}`)
    request = redirected(request, response.status, next.origin === address.origin)
    address = next
    await response.body?.cancel()
  }
  throw new Error(`it redirects more than ${MAX_REDIRECTS} times`)
}

function redirected(request: RequestInit, status: number, isSameOrigin: boolean): RequestInit {
  const { method = 'GET', headers, body, ...rest } = request
  const asks = status === 303 ? method !== 'HEAD' : status < 303 && method === 'POST'
  if (!isSameOrigin) {
    if (body && !asks) throw new Error('it redirects to another host, which does not get the data')
    return { ...rest, method: asks ? 'GET' : method }
  }
  return { ...rest, headers, ...(asks ? { method: 'GET' } : { method, body }) } as RequestInit
}

/** Return the cause behind fetch's own message, which is only "fetch failed". */
function reasonOf(error: unknown, timeout: number): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return `no complete response within ${timeout} s`
  return error.cause instanceof Error ? error.cause.message || String(error.cause) : error.message
}

/** Return the address of a request, with the parameters of its query. */
export function addressOf(url: string, params: Readonly<Record<string, unknown>> | string | undefined): URL {
  const address = URL.canParse(url) ? new URL(url) : undefined
  if (!address || !/^https?:$/.test(address.protocol))
    throw new CommandExecutionError(`'${url}' is not a URL that begins with http:// or https://.`)
  if (address.username || address.password)
    throw new CommandExecutionError(
      'The URL has a user or a password in it, which logs would show. Use username= and password= instead.',
    )
  const entries = typeof params === 'string' ? new URLSearchParams(params) : Object.entries(params ?? {})
  for (const [name, value] of entries) address.searchParams.append(name, String(value))
  return address
}

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
  const headers = new Headers(header_dict)
  for (const line of header_list) {
    const colon = line.indexOf(':')
    if (colon > 0) headers.set(line.slice(0, colon).trim(), line.slice(colon + 1).trim())
  }
  if (agent !== undefined) headers.set('User-Agent', agent)
  if (username !== undefined)
    headers.set('Authorization', `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`)
  if (method === 'POST' && !headers.has('Content-Type'))
    headers.set('Content-Type', 'application/x-www-form-urlencoded')
  return headers
}

/** Files of the host. */
interface Files {
  readonly data_file?: string | undefined
  readonly header_file?: string | undefined
  readonly text_out?: string | undefined
  readonly decode_out?: string | undefined
}

export interface Query extends Credentials, Files {
  readonly url: string
  readonly method: string
  readonly params: Readonly<Record<string, unknown>> | string | undefined
  readonly data: unknown
  readonly status: boolean
  readonly headers: boolean
  readonly text: boolean
  readonly decode: boolean
  readonly decode_type: string
  readonly timeout: number
  readonly max_body: number
  /** Whether an answer that says an error is a failure. */
  readonly raise_error: boolean
  readonly verify_ssl: boolean
}

export interface QueryResult {
  readonly body?: string | null
  readonly text?: string
  readonly dict?: unknown
  readonly status?: number
  readonly headers?: Record<string, string>
  /** Why the request failed. */
  readonly error?: string
}

/** Send a request, and return those parts of the answer that were asked for; of an error all that Salt shows. */
export async function query(wanted: Query, signal: AbortSignal): Promise<QueryResult> {
  const { method, timeout, max_body } = wanted
  const address = addressOf(wanted.url, wanted.params)
  if (address.protocol === 'https:' && !wanted.verify_ssl)
    throw new CommandExecutionError(
      'The certificate of a server is always checked; add its authority to the certificates of this host instead of verify_ssl=False.',
    )
  const { data_file, header_file } = wanted
  const lines = header_file === undefined ? wanted.header_list : (await fileText(header_file)).split('\n')
  const headers = headersOf({ ...wanted, header_list: lines }, method)
  const data = data_file === undefined ? wanted.data : await fileText(data_file)
  const request = { method, headers, ...bodyOf(data, headers.get('Content-Type') ?? undefined) }
  const { response, text } = await ask(address, request, { timeout, max_body, signal })
  if (!response.ok && wanted.raise_error) {
    const error = `HTTP ${response.status}: ${response.statusText}`
    return { status: response.status, error, body: text }
  }
  await keepText(wanted.text_out, text)
  return {
    body: text,
    ...(wanted.status && { status: response.status }),
    ...(wanted.headers && { headers: Object.fromEntries(response.headers) }),
    ...(await textAndDict(wanted, response, text)),
  }
}

async function textAndDict(wanted: Query, response: Response, text: string): Promise<QueryResult> {
  const asText = wanted.text ? { text } : {}
  if (!wanted.decode) return asText
  const format = formatOf(wanted.decode_type, response.headers.get('content-type'))
  if (!['json', 'xml', 'yaml', 'plain'].includes(format))
    return {
      error: "Invalid decode_type specified. Valid decode types are: ('json', 'xml', 'yaml', 'plain')",
    }
  if (wanted.decode_type === 'xml')
    throw new CommandExecutionError('XML is not decoded; use decode_type=plain')
  await keepText(wanted.decode_out, text)
  return format === 'json' || format === 'yaml' ? { dict: await decoded(text, format), ...asText } : { text }
}
