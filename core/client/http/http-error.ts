/**
 * Why a call failed.
 *
 * - `REFUSED`: the answer of salt-api is no success; see `status`.
 * - `UNREACHABLE`: there was no answer, or it is not one of salt-api, as a redirect.
 * - `STREAM_ENDED`: the server has ended the events.
 * - `RUN_FAILED`: the runner failed; see `returned`.
 * - `INVOCATION`: the request has an unknown member, or the url a password; nothing was sent.
 */
export type HttpErrorCode = 'REFUSED' | 'UNREACHABLE' | 'STREAM_ENDED' | 'RUN_FAILED' | 'INVOCATION'

interface Details {
  readonly status?: number
  readonly jid?: string
  readonly missing?: readonly string[]
  readonly returned?: unknown
  readonly cause?: unknown
}

/** A call of `HttpClient` that failed. The message is a sentence, that of the server if it sent one. */
export class HttpError extends Error {
  override readonly name = 'HttpError'
  readonly code: HttpErrorCode
  /** The status of the answer, if there was one. */
  readonly status: number | undefined
  /** The job or run, if one was started. */
  readonly jid: string | undefined
  /** Minions of the job that are not known to have returned. */
  readonly missing: readonly string[] | undefined
  /** What a failed runner has returned: mostly the text of an error. */
  readonly returned: unknown

  constructor(code: HttpErrorCode, message: string, { status, jid, missing, returned, cause }: Details = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.status = status
    this.jid = jid
    this.missing = missing
    this.returned = returned
  }
}

/** Return the error for a server that does not answer, or not as salt-api does. */
export function unreachable(url: URL, problem: string, cause?: unknown): HttpError {
  const advice = 'Check the url of the client, and that salt-api runs and its certificate is trusted.'
  return new HttpError('UNREACHABLE', `salt-api at ${url.origin}${url.pathname} ${problem}. ${advice}`, {
    cause,
  })
}

/** Return what went wrong with a connection. `fetch` of Node says it in the cause of its error, sometimes by a code alone. */
export function problemOf(error: unknown): string {
  const { message, cause } = error as { message?: string; cause?: { message?: string; code?: string } }
  return cause?.message || cause?.code || message || String(error)
}
