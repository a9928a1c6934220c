/** Settings that reduce the memory of the master's processes: by nearly half with a thousand minions (`npm run bench`). */
import { setFlagsFromString } from 'node:v8'
import { garbageCollector } from '../../process/garbage-collector.ts'

/**
 * For processes that serve many small requests: a small young generation, a single malloc arena and returning free memory
 * do not slow them down. `bin/salt-master` starts the supervisor in the same way.
 */
export const SMALL_REQUESTS_MEMORY = {
  flags: ['--max-semi-space-size=1', '--optimize-for-size', '--v8-pool-size=1'],
  env: { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '131072', MALLOC_TRIM_THRESHOLD_: '65536' },
} as const

/** For processes that move much data through memory: a small young generation would cost half their time in collections. */
export const LARGE_DATA_MEMORY = { flags: ['--max-semi-space-size=16', '--v8-pool-size=1'] } as const

const POLL_MS = 5_000
/** Minimum of processor time between two collections, in microseconds: a few dozen requests. */
const MIN_WORK_US = 15_000
/** Factor by which the processor time between two collections exceeds that of a collection: an idle master stays idle. */
const WORK_PER_COLLECTION = 20

/**
 * Collect garbage after some work; it takes 10 ms and more. ZeroMQ messages are small to V8 but hold large memory outside its
 * heap, so V8 collects old ones too late.
 */
export function collectGarbageAfterWork(): void {
  setFlagsFromString('--compact-on-every-full-gc')
  const collect = garbageCollector()
  let collectedAt = 0
  let wanted = MIN_WORK_US
  const look = () => {
    const before = processorTime()
    if (before - collectedAt < wanted) return
    collect()
    collectedAt = processorTime()
    wanted = Math.max(MIN_WORK_US, WORK_PER_COLLECTION * (collectedAt - before))
  }
  setInterval(look, POLL_MS).unref()
}

function processorTime(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}
