/** Requests to web servers: for hooks, and to see whether one answers. */
import { CommandExecutionError, fn, p, SaltInvocationError } from 'salt-ts'
import { bodyOf, decoded, readLimited } from './_http/body.ts'
import { checkCertificates, readCertificates, replaceBundle } from './_http/ca-bundle.ts'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'] as const

/**
 * Ask a web server. Gives `body`, and what it says as `dict` with `decode=True` (JSON; other kinds stay text), with
 * `status=True` the number, with `headers=True` the headers; a failure as `error`. `http` and `https` only; the
 * certificate of the server is checked, at most `max_body` bytes are read, within `timeout`
 * seconds, over at most 20 redirections.
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
 * Replace a file of certificates of authorities (`ca_bundle`) by what a web server has (`ca_bundle_url`), with those of
 * your own files behind them. Nothing is written unless all of them are certificates. Gives the path.
 *
 * @example salt-run http.update_ca_bundle target=/etc/salt/cacert.pem merge_files=/etc/salt/own-ca.pem
 */
export const update_ca_bundle = fn(
  {
    target: p.optional(p.string({ pattern: '^/', description: 'A whole path.' })),
    source: p.optional(p.string({ minLength: 1 })),
    merge_files: p.default(p.union(p.string(), p.array(p.string())), []),
  },
  async ({ target, source, merge_files }, { opts, signal }) => {
    const path = target ?? opts.ca_bundle
    if (typeof path !== 'string')
      throw new SaltInvocationError(
        'Say which file: target=/path/cacert.pem, or the option ca_bundle of the master.',
      )
    const address = addressOf(source ?? String(opts.ca_bundle_url), undefined)
    const { response, text } = await ask(address, { method: 'GET' }, { ...LIMITS, signal })
    if (!response.ok)
      throw new CommandExecutionError(
        `${address} has nothing: HTTP ${response.status}: ${response.statusText}`,
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
    throw new CommandExecutionError(`'${url}' is not an address that begins with http:// or https://.`)
  if (address.username || address.password)
    throw new CommandExecutionError(
      'Give username= and password=, not as a part of the address, which logs show.',
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

/** What fetch says itself is "fetch failed"; the reason is behind it. */
function reasonOf(error: unknown, timeout: number): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return `nothing came of it within ${timeout} s`
  return error.cause instanceof Error ? error.cause.message || String(error.cause) : error.message
}
