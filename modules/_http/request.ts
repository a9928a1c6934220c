/** HTTP requests of the functions `http.*`, on minions and on masters. */
import { CommandExecutionError } from 'salt-ts'
import { bodyOf, decoded, readLimited } from './body.ts'

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

/** Send a request and read the answer. @throws CommandExecutionError if there is none, or if it is too long */
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
    throw new CommandExecutionError(`${address.origin} did not answer: ${reasonOf(error, timeout)}`)
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
  readonly username: string | undefined
  readonly password: string | undefined
}

function headersOf({ header_dict = {}, username, password = '' }: Credentials): Record<string, string> {
  if (username === undefined) return { ...header_dict }
  const login = Buffer.from(`${username}:${password}`).toString('base64')
  return { ...header_dict, Authorization: `Basic ${login}` }
}

export interface Query extends Credentials {
  readonly url: string
  readonly method: string
  readonly params: Readonly<Record<string, unknown>> | string | undefined
  readonly data: unknown
  readonly status: boolean
  readonly headers: boolean
  readonly text: boolean
  readonly decode: boolean
  readonly timeout: number
  readonly max_body: number
}

export interface QueryResult {
  readonly body?: string | null
  readonly dict?: unknown
  readonly status?: number
  readonly headers?: Record<string, string>
  /** Why the request failed. */
  readonly error?: string
}

/** Send a request, and return those parts of the answer that were asked for. */
export async function query(wanted: Query, signal: AbortSignal): Promise<QueryResult> {
  const { url, method, timeout, max_body } = wanted
  const address = addressOf(url, wanted.params)
  const request = { method, headers: headersOf(wanted), ...bodyOf(wanted.data) }
  const { response, text } = await ask(address, request, { timeout, max_body, signal })
  return {
    ...(wanted.text && { body: text }),
    ...(wanted.decode && { dict: decoded(text) }),
    ...(wanted.status && { status: response.status }),
    ...(wanted.headers && { headers: Object.fromEntries(response.headers) }),
    ...(!response.ok && { error: `HTTP ${response.status}: ${response.statusText}` }),
  }
}
