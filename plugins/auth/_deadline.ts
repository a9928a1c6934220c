/** Questions to servers end: with an answer, or with a sentence that says who gave none. */

export interface Patience {
  /** For sentences: `LDAP at ldap.example.com:389`. */
  readonly place: string
  readonly seconds: number
  /** Aborted when nobody waits any more. */
  readonly signal: AbortSignal
}

/** What `work` gives; its signal is aborted when it is over. Every rejection begins with the place. */
export async function beforeDeadline<T>(
  { place, seconds, signal }: Patience,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const end = new AbortController()
  const over = new Promise<never>((_, reject) =>
    end.signal.addEventListener('abort', () => reject(end.signal.reason), { once: true }),
  )
  over.catch(() => undefined) // nobody listens when the work was quicker
  const leave = () => end.abort(new Error('nobody waits for it any more'))
  const timer = setTimeout(() => end.abort(new Error(`no answer within ${seconds} seconds`)), seconds * 1000)
  signal.addEventListener('abort', leave, { once: true })
  if (signal.aborted) leave()
  try {
    return await Promise.race([over, work(end.signal)])
  } catch (error) {
    throw new Error(`${place}: ${whatItSays(error)}`, { cause: error })
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', leave)
    end.abort()
  }
}

function whatItSays(error: unknown): string {
  const { message, code, errors } = error as AggregateError & { readonly code?: string }
  return message || errors?.map((each) => each.message).join(', ') || `${code}`
}
