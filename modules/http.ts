/** HTTP requests: to call webhooks, and to check servers. */
import { setTimeout as sleep } from 'node:timers/promises'
import { CommandExecutionError, type Context, fn, p } from 'salt-ts'
import { rewrite, textOf } from './_host/files.ts'
import { fileParams, queryParams } from './_http/params.ts'
import { type Query, type QueryResult, query as sendQuery, textOption } from './_http/query.ts'
import { addressOf, ask, NoAnswer } from './_http/request.ts'
import { CA_BUNDLES } from './_http/tls.ts'

const url = p.string({ minLength: 1 })

/**
 * Send an HTTP request. Returns `body`, with `text=True` also as `text`; with `decode=True` what it says in JSON, YAML or XML as
 * `dict`, or else `text`; with `status=True` the status code, with `headers=True` the headers; `error` and `status` for a
 * failure. A map as `data` is sent as a form, or as JSON if the header `Content-Type` says so. `http` and `https` only. The
 * certificate of the server is checked by `ca_bundle` or the authorities of the host, and not with `verify_ssl=False`. At most
 * `max_body` bytes are read, within `timeout` seconds, after at most 20 redirects.
 *
 * @example salt '*' http.query http://somelink.com/ status=True
 * @example salt '*' http.query http://somelink.com/ method=POST params='{key1: val1, key2: val2}'
 * @example salt '*' http.query http://somelink.com/ method=POST data='<xml>somecontent</xml>'
 */
export const query = fn({ url, ...queryParams, ...fileParams }, answerOf)

/**
 * Repeat a request until it succeeds, for at most `wait_for` seconds, with `request_interval` seconds between. Returns the
 * last answer, or an `error`.
 *
 * @example salt '*' http.wait_for_successful_query http://somelink.com/ wait_for=160
 * @example salt '*' http.wait_for_successful_query http://localhost:8080/health wait_for=60 request_interval=5
 */
export const wait_for_successful_query = fn(
  {
    url,
    wait_for: p.default(p.number({ minimum: 0 }), 300),
    request_interval: p.default(p.number({ minimum: 0.1 }), 1),
    ...queryParams,
    ...fileParams,
  },
  async ({ wait_for, request_interval, ...wanted }, context) => {
    const until = Date.now() + wait_for * 1000
    for (;;) {
      const outcome = await answerOf(wanted, context)
      const isLast = Date.now() + request_interval * 1000 > until
      if (isLast || outcome.error === undefined) return outcome
      await sleep(request_interval * 1000, undefined, { signal: context.signal })
    }
  },
)

/**
 * Replace the file of trusted certificates (option `ca_bundle`) by one that is downloaded (option `ca_bundle_url`, by default that
 * of the curl project). `merge_files` are files of further certificates. Returns nothing.
 *
 * @example salt '*' http.update_ca_bundle target=/path/to/cacerts.pem source=https://example.com/cacerts.pem
 * @example salt '*' http.update_ca_bundle merge_files='[/path/to/mycert.pem]'
 */
export const update_ca_bundle = fn(
  {
    target: p.optional(p.string()),
    source: p.optional(p.string()),
    merge_files: p.optional(p.union(p.string(), p.array(p.string()))),
  },
  async ({ target, source, merge_files }, { signal, opts }) => {
    const path = target ?? textOption(opts.ca_bundle) ?? (await firstFile(CA_BUNDLES))
    if (path === undefined)
      throw new CommandExecutionError('This host has no CA bundle; name the file as target')
    const address = source ?? textOption(opts.ca_bundle_url) ?? 'https://curl.se/ca/cacert.pem'
    const body = await download(address, signal)
    if (!body.includes('-----BEGIN CERTIFICATE-----'))
      throw new CommandExecutionError(`${address} has no certificates; ${path} stays as it is`)
    const more = await Promise.all([merge_files ?? []].flat().map((file) => textOf(file)))
    await rewrite(path, [body, ...more.filter((text) => text !== undefined)].join('\n'))
    return null
  },
)

const LIMITS = { timeout: 30, max_body: 10_485_760 }

async function download(address: string, signal: AbortSignal): Promise<string> {
  const failed = (reason: string) => new CommandExecutionError(`${address} could not be fetched: ${reason}`)
  const { response, text } = await ask(addressOf(address, undefined), {}, { ...LIMITS, signal }).catch(
    (cause) => {
      throw cause instanceof NoAnswer ? failed(cause.message) : cause
    },
  )
  if (!response.ok) throw failed(`HTTP ${response.status}: ${response.statusText}`)
  return text
}

async function firstFile(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) if ((await textOf(path)) !== undefined) return path
  return undefined
}

/** The status of a connection that failed, in Salt. */
const NO_STATUS = 599

/** Send a request. That a server does not answer is a result, as in Salt. */
async function answerOf(wanted: Query, context: Context): Promise<QueryResult> {
  try {
    const agent = wanted.agent ?? `Salt/${context.grains.saltversion ?? ''} http.query()`
    return await sendQuery({ ...wanted, agent }, context)
  } catch (cause) {
    if (!(cause instanceof NoAnswer)) throw cause
    const status = wanted.raise_error ? 0 : NO_STATUS
    return {
      ...(wanted.status === true && { status }),
      ...(wanted.raise_error ? { error: cause.reason } : { body: null }),
    }
  }
}
