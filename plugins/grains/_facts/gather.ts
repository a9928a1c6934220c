import type { GrainsSource, Log } from 'salt-ts'
import type { Host } from './host.ts'

export type Grains = Record<string, unknown>

/** Find some grains. The signal is aborted when the time for them is over. */
type Search = (signal: AbortSignal) => Grains | Promise<Grains>

/** Searches by what they are about, in words for the log. */
export type Searches = Readonly<Record<string, Search>>

/** A source of grains: its searches on a host. */
export type Source = (host: Host, facts: Parameters<GrainsSource['collect']>[0]) => Searches

/** Time for a search. All of a file together have 10 s, so that a slow one does not take the others with it. */
const SEARCH_MS = 5_000

/**
 * Run searches concurrently, and merge what they find in their order. One that fails or is not over in time is logged and left
 * out, as are undefined values.
 */
export async function gather(log: Log, searches: Searches, milliseconds = SEARCH_MS): Promise<Grains> {
  const stop = new AbortController()
  const late = new Promise<never>((_, reject) => {
    stop.signal.addEventListener('abort', () => reject(stop.signal.reason))
  })
  const tooSlow = () => stop.abort(new Error(`they were not found within ${milliseconds / 1000} s`))
  const timer = setTimeout(tooSlow, milliseconds)
  const found = await Promise.all(
    Object.entries(searches).map(async ([subject, search]) => {
      try {
        return await Promise.race([search(stop.signal), late])
      } catch (cause) {
        const reason = cause instanceof Error ? cause.message.trim() : String(cause)
        log.error(`The grains about ${subject} are missing: ${reason}`)
        return {}
      }
    }),
  )
  clearTimeout(timer)
  const pairs = found.flatMap((grains) => Object.entries(grains))
  return Object.fromEntries(pairs.filter(([, value]) => value !== undefined))
}
