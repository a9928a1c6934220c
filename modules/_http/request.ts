/** HTTP requests, and their answers. */
import { STATUS_CODES } from 'node:http'
import { CommandExecutionError } from 'salt-ts'
import { pythonText } from '../_values/python.ts'
import { textIn } from './body.ts'
import { followed } from './redirects.ts'
import { bytesOf, headersOfAnswer, type Request } from './send.ts'
import { type Trust, tlsOf } from './tls.ts'

export interface Limits {
  /** Seconds. */
  readonly timeout: number
  readonly max_body: number
  readonly signal: AbortSignal
}

export interface Response {
  readonly status: number
  readonly statusText: string
  /** Whether the server did what was asked for. */
  readonly ok: boolean
  /** By their names as Salt writes them: `Content-Type`. */
  readonly headers: Readonly<Record<string, string>>
}

export interface Answer {
  readonly response: Response
  readonly bytes: Buffer
  /** The bytes, decoded as the headers say. */
  readonly text: string
}

/** No server answered, or the answer is too long. */
export class NoAnswer extends CommandExecutionError {
  /** Why, as Salt says it. */
  readonly reason: string

  constructor(message: string, reason = message) {
    super(message)
    this.reason = reason
  }
}

/** How long is waited for a connection, as Salt does. */
const CONNECT_TIMEOUT_MS = 20_000

/** Send a request and read the answer. @throws NoAnswer if there is none, or if it is too long */
export async function ask(
  address: URL,
  request: Request & { readonly trust?: Trust },
  { timeout, max_body, signal }: Limits,
): Promise<Answer> {
  const late = AbortSignal.timeout(timeout * 1000)
  const patience = { signal: AbortSignal.any([signal, late]), connectMs: CONNECT_TIMEOUT_MS }
  try {
    const { trust = { verify_ssl: true }, ...rest } = request
    const tls = address.protocol === 'https:' ? await tlsOf(trust) : undefined
    const answer = await followed(address, { ...rest, tls }, patience, trust)
    const bytes = await bytesOf(answer, max_body)
    patience.signal.throwIfAborted() // a body without a length just ends then
    const headers = headersOfAnswer(answer)
    const { statusCode: status = 0, statusMessage } = answer
    const statusText = statusMessage || (STATUS_CODES[status] ?? 'Unknown')
    const response = { status, statusText, ok: status >= 200 && status < 300, headers }
    return { response, bytes, text: textIn(bytes, headers['Content-Type']) }
  } catch (error) {
    signal.throwIfAborted()
    const message = late.aborted ? `no complete response within ${timeout} s` : messageOf(error)
    throw new NoAnswer(`${address.origin} did not answer: ${message}`, saltReason(error))
  }
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message || String(error) : String(error)

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: '[Errno 111] Connection refused',
  ENOTFOUND: '[Errno -2] Name or service not known',
  EAI_AGAIN: '[Errno -3] Temporary failure in name resolution',
  EHOSTUNREACH: '[Errno 113] No route to host',
  ENETUNREACH: '[Errno 101] Network is unreachable',
  ENOENT: '[Errno 2] No such file or directory',
}
/** Codes of certificates that nothing vouches for. */
const UNTRUSTED = /CERT|UNABLE_TO_(GET|VERIFY)/

/** Return why there is no answer as Salt says it, if it is one of the usual causes. */
function saltReason(error: unknown): string | undefined {
  const { code = '', message, errors } = error as NodeJS.ErrnoException & { errors?: unknown[] }
  if (REASONS[code] !== undefined) return REASONS[code]
  if (errors?.[0] !== undefined) return saltReason(errors[0])
  return UNTRUSTED.test(code)
    ? `[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: ${message}`
    : undefined
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
  for (const [name, value] of entries) address.searchParams.append(name, pythonText(value))
  return address
}
