/** HTTP requests: to call webhooks, and to check servers. */
import { CommandExecutionError, fn, p, SaltInvocationError } from 'salt-ts'
import { queryParams } from '../modules/_http/params.ts'
import { query as sendQuery } from '../modules/_http/query.ts'
import { addressOf, ask } from '../modules/_http/request.ts'
import { checkCertificates, readCertificates, replaceBundle } from './_http/ca-bundle.ts'

/**
 * Send an HTTP request. Returns `body`, with `text=True` also as `text`; with `decode=True` what it says in JSON, YAML or XML as
 * `dict`, or else `text`; with `status=True` the status code, with `headers=True` the headers; `error` and `status` for a
 * failure. A map as `data` is sent as a form, or as JSON if the header `Content-Type` says so. `http` and `https` only.
 * The certificate of the server is checked, but not with `verify_ssl=False`. At most `max_body` bytes are read, within `timeout`
 * seconds, after at most 20 redirects.
 *
 * @example salt-run http.query https://hooks.example.com/ method=POST data='{"text": "done"}' header_dict='{Content-Type: application/json}'
 * @example salt-run http.query http://localhost:8080/health status=True
 */
export const query = fn(
  { url: p.string({ minLength: 1 }), output: p.default(p.boolean(), true), ...queryParams },
  (wanted, context) => sendQuery(wanted, context),
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
