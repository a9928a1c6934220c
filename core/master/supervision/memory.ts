/** Settings of V8 and malloc for the master's processes: little memory, and little time for collections (`npm run bench`). */
import { setFlagsFromString } from 'node:v8'
import { garbageCollector } from '../../process/garbage-collector.ts'

/**
 * For processes that serve many small requests: a single malloc arena and returning free memory do not slow them down. A young
 * generation of 8 MiB instead of 1, and no `--optimize-for-size`, take half of the processor time of a return away.
 * `bin/salt-master` starts the supervisor in the same way.
 */
export const SMALL_REQUESTS_MEMORY = {
  flags: ['--max-semi-space-size=8', '--single-threaded-gc', '--v8-pool-size=1'],
  env: { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '131072', MALLOC_TRIM_THRESHOLD_: '65536' },
} as const

/** For processes that move much data through memory. */
export const LARGE_DATA_MEMORY = { flags: ['--max-semi-space-size=16', '--v8-pool-size=1'] } as const

const POLL_MS = 5_000
/** Minimum of processor time between two collections, in microseconds: a few dozen requests. */
const MIN_WORK_US = 15_000
/**
 * Factor by which the processor time between two collections exceeds that of a collection: an idle master stays idle, and a busy one,
 * which collects by itself, is hardly slowed down.
 */
const WORK_PER_COLLECTION = { quiet: 20, busy: 100 }
/** Share of the time that a process may work and still counts as quiet. */
const QUIET = 0.1
/**
 * Number of quiet checks in a row, 5 minutes in total, after which a load is over. V8 then shrinks its young generation, since
 * little was allocated for 5 s. That returns 30 MB, and the next load takes up to 30% more processor time until the young
 * generation has grown again.
 */
const CHECKS_TO_SHRINK = 60

/**
 * Collect garbage after some work, and at the end of a load; it takes 10 ms and more. ZeroMQ messages are small to V8 but hold large memory outside its
 * heap, so V8 collects old ones too late.
 */
export function collectGarbageAfterWork(collect = garbageCollector()): void {
  let checkedAt = 0
  let collectedAt = 0
  let cost = 0
  let quietChecks = 0
  const collectIfDue = () => {
    const now = processorTime()
    const isQuiet = now - checkedAt < QUIET * POLL_MS * 1000
    checkedAt = now
    quietChecks = isQuiet ? quietChecks + 1 : 0
    const minWork = Math.max(MIN_WORK_US, WORK_PER_COLLECTION[isQuiet ? 'quiet' : 'busy'] * cost)
    if (quietChecks !== CHECKS_TO_SHRINK && now - collectedAt < minWork) return
    // Collections of V8 under load do not compact: they would take several times as long.
    setFlagsFromString('--compact-on-every-full-gc')
    collect()
    setFlagsFromString('--no-compact-on-every-full-gc')
    collectedAt = processorTime()
    cost = collectedAt - now
  }
  setInterval(collectIfDue, POLL_MS).unref()
}

function processorTime(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}
