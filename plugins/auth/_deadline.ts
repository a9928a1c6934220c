/** Deadlines of requests to servers. */

export interface DeadlineSettings {
  /** The server's name in error messages: `LDAP at ldap.example.com:389`. */
  readonly place: string
  readonly seconds: number
  /** Aborted when the caller no longer waits. */
  readonly signal: AbortSignal
}

/** Resolve with the result of `work`, whose signal is aborted at the deadline. Every rejection begins with the place. */
export async function beforeDeadline<T>(
  { place, seconds, signal }: DeadlineSettings,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const end = new AbortController()
  const over = new Promise<never>((_, reject) =>
    end.signal.addEventListener('abort', () => reject(end.signal.reason), { once: true }),
  )
  over.catch(() => undefined) // unhandled if the work settles first
  const leave = () => end.abort(new Error('the caller no longer waits'))
  const timer = setTimeout(() => end.abort(new Error(`no answer within ${seconds} seconds`)), seconds * 1000)
  signal.addEventListener('abort', leave, { once: true })
  if (signal.aborted) leave()
  try {
    return await Promise.race([over, work(end.signal)])
  } catch (error) {
    throw new Error(`${place}: ${messageOf(error)}`, { cause: error })
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', leave)
    end.abort()
  }
}

function messageOf(error: unknown): string {
  const { message, code, errors } = error as AggregateError & { readonly code?: string }
  return message || errors?.map((each) => each.message).join(', ') || `${code}`
}
