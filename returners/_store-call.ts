/** Calls to stores with a time limit and error messages that name the store. */
import { UnsavableError } from 'salt-ts'

export interface Place {
  /** Name of the store in messages: `Redis at 127.0.0.1:6379`. */
  readonly place: string
  /** Time limit of a call in seconds. */
  readonly timeout: number
  /** Returns the connection's last error, if there is one. */
  readonly why?: () => Error | undefined
}

/** Return the result of `work`. Rejects as it does, or after the time limit. */
export async function storeCall<T>({ place, timeout, why }: Place, work: () => Promise<T>): Promise<T> {
  try {
    return await within(timeout, work(), () => why?.())
  } catch (error) {
    if (error instanceof UnsavableError) throw error
    const { message, code = '' } = error as Error & { readonly code?: string | number }
    throw new Error(`${place}: ${tlsFailure(code) ?? (message || String(code))}`, { cause: error })
  }
}

const NO_CERTIFICATE = 'the server requires a client certificate, and accepted none'
const NO_TLS = 'this port does not use TLS'

/** Readable messages for TLS errors, by the end of OpenSSL's code, whose beginning differs between versions. */
const TLS_FAILURES: readonly (readonly [end: string, sentence: string])[] = [
  ['ALERT_CERTIFICATE_REQUIRED', NO_CERTIFICATE],
  ['ALERT_UNKNOWN_CA', NO_CERTIFICATE],
  ['ALERT_BAD_CERTIFICATE', NO_CERTIFICATE],
  ['ALERT_HANDSHAKE_FAILURE', NO_CERTIFICATE],
  ['WRONG_VERSION_NUMBER', NO_TLS],
  ['PACKET_LENGTH_TOO_LONG', NO_TLS],
]

/** Return a readable message. Codes may be numbers, which the clients of some stores use. */
function tlsFailure(code: unknown): string | undefined {
  const text = String(code)
  return text.startsWith('ERR_SSL_') ? TLS_FAILURES.find(([end]) => text.endsWith(end))?.[1] : undefined
}

/** Reject after so many seconds: with the error of `late`, or for lack of an answer. */
export async function within<T>(
  seconds: number,
  work: Promise<T>,
  late: () => Error | undefined,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const end = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(late() ?? new Error(`no answer within ${seconds} seconds`)),
      seconds * 1000,
    )
  })
  try {
    return await Promise.race([work, end])
  } finally {
    clearTimeout(timer)
  }
}
