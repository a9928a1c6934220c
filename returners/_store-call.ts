/** Calls to stores end: with what they gave, or with a sentence that says which store and what it said. */
import { UnsavableError } from 'salt-ts'

export interface Place {
  /** For sentences: `Redis at 127.0.0.1:6379`. */
  readonly place: string
  /** Seconds a call may take. */
  readonly timeout: number
  /** What is known of the connection when a call has failed. */
  readonly why?: () => Error | undefined
}

/** What `work` gives. Rejects as it does, or after the time-out. */
export async function storeCall<T>({ place, timeout, why }: Place, work: () => Promise<T>): Promise<T> {
  try {
    return await within(timeout, work(), () => why?.())
  } catch (error) {
    if (error instanceof UnsavableError) throw error
    const { message, code = '' } = error as Error & { readonly code?: string | number }
    throw new Error(`${place}: ${tlsFailure(code) ?? (message || String(code))}`, { cause: error })
  }
}

const NO_CERTIFICATE = 'the server asks for a certificate, and was shown none that it takes'
const NO_TLS = 'there is no TLS at this port'

/** What OpenSSL has no sentence for, by the end of the code, which begins otherwise in each version. */
const TLS_FAILURES: readonly (readonly [end: string, sentence: string])[] = [
  ['ALERT_CERTIFICATE_REQUIRED', NO_CERTIFICATE],
  ['ALERT_UNKNOWN_CA', NO_CERTIFICATE],
  ['ALERT_BAD_CERTIFICATE', NO_CERTIFICATE],
  ['ALERT_HANDSHAKE_FAILURE', NO_CERTIFICATE],
  ['WRONG_VERSION_NUMBER', NO_TLS],
  ['PACKET_LENGTH_TOO_LONG', NO_TLS],
]

/** Clients of some stores have numbers for codes. */
function tlsFailure(code: unknown): string | undefined {
  const text = String(code)
  return text.startsWith('ERR_SSL_') ? TLS_FAILURES.find(([end]) => text.endsWith(end))?.[1] : undefined
}

/** Rejects after that many seconds: with what `late` knows about it, or that there was no answer. */
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
