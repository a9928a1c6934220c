/** HTTP requests: to call webhooks, and to check servers. */
import { setTimeout as sleep } from 'node:timers/promises'
import { CommandExecutionError, fn, p } from 'salt-ts'
import { queryParams } from './_http/params.ts'
import { addressOf, type Query, type QueryResult, query as sendQuery } from './_http/request.ts'

const url = p.string({ minLength: 1 })

/**
 * Send an HTTP request. Returns `body`; with `decode=True` the decoded body as `dict` (JSON; other formats stay text),
 * with `status=True` the status code, with `headers=True` the headers; `error` for a failure, also if no server answers. `http` and `https` only.
 * The certificate of the server is checked. At most `max_body` bytes are read, within `timeout` seconds, after at most
 * 20 redirects.
 *
 * @example salt '*' http.query http://somelink.com/ status=True
 * @example salt '*' http.query http://somelink.com/ method=POST params='{key1: val1, key2: val2}'
 * @example salt '*' http.query http://somelink.com/ method=POST data='<xml>somecontent</xml>'
 */
export const query = fn({ url, ...queryParams }, (wanted, { signal }) => answerOf(wanted, signal))

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
  },
  async ({ wait_for, request_interval, ...wanted }, { signal }) => {
    const until = Date.now() + wait_for * 1000
    for (;;) {
      const outcome = await answerOf(wanted, signal)
      const isLast = Date.now() + request_interval * 1000 > until
      if (isLast || outcome.error === undefined) return outcome
      await sleep(request_interval * 1000, undefined, { signal })
    }
  },
)

/** Send a request. That a server does not answer is a result, as in Salt. */
async function answerOf(wanted: Query, signal: AbortSignal): Promise<QueryResult> {
  addressOf(wanted.url, wanted.params)
  try {
    return await sendQuery(wanted, signal)
  } catch (cause) {
    if (cause instanceof CommandExecutionError) return { error: cause.message }
    throw cause
  }
}
