/** HTTP requests: to call webhooks, and to check servers. */
import { CommandExecutionError, fn, p, SaltInvocationError } from 'salt-ts'
import { bodyOf, decoded, readLimited } from './_http/body.ts'
import { checkCertificates, readCertificates, replaceBundle } from './_http/ca-bundle.ts'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'] as const

/**
 * Send an HTTP request. Returns `body`; with `decode=True` the decoded body as `dict` (JSON; other formats stay text),
 * with `status=True` the status code, with `headers=True` the headers; `error` for a failure. `http` and `https` only.
 * The certificate of the server is checked. At most `max_body` bytes are read, within `timeout` seconds, after at most
 * 20 redirects.
 *
 * @example salt-run http.query https://hooks.example.com/ method=POST data='{"text": "done"}' header_dict='{Content-Type: application/json}'
 * @example salt-run http.query http://localhost:8080/health status=True
 */
export const query = fn(
  {
    url: p.string({ minLength: 1 }),
    output: p.default(p.boolean(), true),
    method: p.default(p.enum(...METHODS), 'GET'),
    params: p.optional(p.union(p.record(p.any()), p.string())),
    data: p.optional(p.any()),
    header_dict: p.optional(p.record(p.string())),
    username: p.optional(p.string()),
    password: p.secret(p.optional(p.string())),
    status: p.default(p.boolean(), false),
    headers: p.default(p.boolean(), false),
    text: p.default(p.boolean(), true),
    decode: p.default(p.boolean(), false),
    timeout: p.default(p.number({ exclusiveMinimum: 0, maximum: 3600 }), 30),
    max_body: p.default(p.integer({ minimum: 0 }), 10_485_760),
  },
  async (wanted, { signal }) => {
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
  },
)

const LIMITS = { timeout: 60, max_body: 10_485_760 }

/**
 * Replace a file of CA certificates (`ca_bundle`) by the one of a web server (`ca_bundle_url`), followed by those of
 * your own files. Nothing is written unless all of them are valid certificates. Returns the path.
 *
 * @example salt-run http.update_ca_bundle target=/etc/salt/cacert.pem merge_files=/etc/salt/own-ca.pem
 */
export const update_ca_bundle = fn(
  {
    target: p.optional(p.string({ pattern: '^/', description: 'An absolute path.' })),
    source: p.optional(p.string({ minLength: 1 })),
    merge_files: p.default(p.union(p.string(), p.array(p.string())), []),
  },
  async ({ target, source, merge_files }, { opts, signal }) => {
    const path = target ?? opts.ca_bundle
    if (typeof path !== 'string')
      throw new SaltInvocationError(
        'No file is given. Use target=/path/cacert.pem, or set the option ca_bundle of the master.',
      )
    const address = addressOf(source ?? String(opts.ca_bundle_url), undefined)
    const { response, text } = await ask(address, { method: 'GET' }, { ...LIMITS, signal })
    if (!response.ok)
      throw new CommandExecutionError(
        `${address} did not serve a CA bundle (HTTP ${response.status}: ${response.statusText}). Check source or ca_bundle_url.`,
      )
    checkCertificates(text, address.href)
    const own = await Promise.all([merge_files].flat().map(readCertificates))
    await replaceBundle(path, [text, ...own].join('\n'))
    return path
  },
)

interface Limits {
  /** Seconds. */
  readonly timeout: number
  readonly max_body: number
  readonly signal: AbortSignal
}

async function ask(address: URL, request: RequestInit, { timeout, max_body, signal }: Limits) {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeout * 1000)])
  try {
    const response = await fetch(address, { ...request, signal: limit })
    return { response, text: await readLimited(response, max_body) }
  } catch (error) {
    signal.throwIfAborted()
    throw new CommandExecutionError(`${address.origin} did not answer: ${reasonOf(error, timeout)}`)
  }
}

function addressOf(url: string, params: Readonly<Record<string, unknown>> | string | undefined): URL {
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

/** Return the cause behind fetch's own message, which is only "fetch failed". */
function reasonOf(error: unknown, timeout: number): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return `no complete response within ${timeout} s`
  return error.cause instanceof Error ? error.cause.message || String(error.cause) : error.message
}
