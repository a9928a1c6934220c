/** How the processes of a master keep small: with a thousand minions they take little more than half of what they would (`npm run bench`). */
import { setFlagsFromString } from 'node:v8'
import { garbageCollector } from '../base/garbage-collector.ts'

/**
 * They serve many small requests: a small young generation, a single malloc arena and giving back what is free do not
 * make them slower. `bin/salt-master` starts the supervisor in the same way.
 */
export const slim = {
  flags: ['--max-semi-space-size=1', '--optimize-for-size', '--v8-pool-size=1'],
  env: { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '131072', MALLOC_TRIM_THRESHOLD_: '65536' },
} as const

/** One that moves much through memory, batch by batch: with a small young generation half its time would go into collecting it. */
export const bulk = { flags: ['--max-semi-space-size=16', '--v8-pool-size=1'] } as const

const LOOK_MS = 5_000
/** Processor time between two collections, in microseconds: a few dozen requests. */
const WORK_US = 15_000

/**
 * A message of ZeroMQ is small to V8 and large outside of it, so those that got old are not collected in time. After
 * some work it is done here; it takes about 10 ms.
 */
export function collectAfterWork(): void {
  setFlagsFromString('--compact-on-every-full-gc')
  const collect = garbageCollector()
  let done = 0
  const look = () => {
    const { user, system } = process.cpuUsage()
    if (user + system - done < WORK_US) return
    collect()
    const after = process.cpuUsage()
    done = after.user + after.system
  }
  setInterval(look, LOOK_MS).unref()
}
