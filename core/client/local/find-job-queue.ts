import { Semaphore } from '../../base/semaphore.ts'
import type { MasterEvents } from './master-link.ts'

/** Limits the `saltutil.find_job` queries of one link at once; thousands of waits may want to send one. */
const MAX_QUERIES = 16

const byBus = new WeakMap<MasterEvents, Semaphore>()

/** Return the semaphore of the queries over the same link. */
export function findJobSlots(bus: MasterEvents): Semaphore {
  const slots = byBus.get(bus) ?? new Semaphore(MAX_QUERIES)
  byBus.set(bus, slots)
  return slots
}

/** A place in the queue for a query. */
export interface QueuedFindJob {
  readonly isGranted: boolean
  /** When to look again, in milliseconds since 1970. */
  lookAgainAt(): number
  leave(): void
}

/** Queue a query. `onGranted` is called when its turn comes, unless it has come at once. */
export function queueFindJob(slots: Semaphore, onGranted: () => void): QueuedFindJob {
  const leaving = new AbortController()
  const mustWait = slots.full
  let isGranted = !mustWait
  const over = slots.take(leaving.signal).then((leave) => {
    isGranted = true
    if (mustWait) onGranted()
    return leave
  })
  return {
    get isGranted() {
      return isGranted
    },
    lookAgainAt: () => (isGranted ? 0 : Number.POSITIVE_INFINITY),
    leave() {
      leaving.abort()
      over.then(
        (leave) => leave(),
        () => {},
      )
    },
  }
}
