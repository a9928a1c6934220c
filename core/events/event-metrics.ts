import type { Meter } from '../metrics/index.ts'
import { decodeEvent, tagOf } from './event.ts'
import type { EventPublisher, EventWatch } from './publisher.ts'

/** Of one event in so many milliseconds it is looked when it was fired, unless it is a large one. */
const LOOK_MS = 200
const MOST_BYTES = 64 * 1024

/** Counts what goes over an event bus, and how long it takes. */
export function watchEvents(meter: Meter, now: () => number = Date.now): EventWatch {
  let looked: Uint8Array | undefined
  let lookedAt = 0
  return {
    fired(body) {
      meter.count('salt_events_fired', [kindOf(tagOf(body))])
      if (looked || body.length > MOST_BYTES || now() - lookedAt < LOOK_MS) return
      looked = body
      lookedAt = now()
    },
    delivered() {
      const firedAt = looked && timeOf(looked)
      looked = undefined
      if (firedAt !== undefined)
        meter.observe('salt_event_lag_seconds', Math.max(0, now() - firedAt) / 1000, [])
    },
    cutOff: () => meter.count('salt_event_readers_cut_off', []),
  }
}

/** What the publisher of the bus knows itself. */
export function readEventBus(meter: Meter, publisher: Pick<EventPublisher, 'readers' | 'backlog'>): void {
  meter.read(() => [
    ['salt_event_readers', publisher.readers, []],
    ['salt_event_backlog_events', publisher.backlog, []],
  ])
}

/** When an event was fired, by its `_stamp`; undefined if it does not say. */
function timeOf(body: Uint8Array): number | undefined {
  try {
    const time = Date.parse(`${decodeEvent(body).data._stamp}Z`)
    return Number.isNaN(time) ? undefined : time
  } catch {
    return undefined
  }
}

/** What tags tell of, the first that fits; see `tags`. */
const kinds: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ['job_new', /^salt\/job\/[^/]+\/new$/],
  ['job_published', /^\d{20}/],
  ['job_return', /^salt\/job\/[^/]+\/ret\//],
  ['job_start', /^salt\/job\/[^/]+\/start\//],
  ['job_row', /^salt\/job\/[^/]+\/prog\//],
  ['job_stored', /^salt\/job\/[^/]+\/stored\//],
  ['job_error', /^salt\/job\/(?:[^/]+\/)?error$/],
  ['batch', /^salt\/batch\//],
  ['run', /^salt\/(?:run|wheel)\//],
  ['auth', /^salt\/auth/],
  ['key', /^(?:salt\/)?key$/],
  ['presence', /^salt\/presence\//],
  ['beacon', /^salt\/beacon\//],
  ['returner', /^salt\/returner\/|^salt\/minion\/[^/]+\/returner\//],
  ['minion_start', /^salt\/minion\/[^/]+\/start$|^minion_start$/],
  ['minion', /^salt\/minion\/|^minion/],
]

/** A short word for what an event tells of; `other` for those of users. */
export function kindOf(tag: string): string {
  return kinds.find(([, pattern]) => pattern.test(tag))?.[0] ?? 'other'
}
