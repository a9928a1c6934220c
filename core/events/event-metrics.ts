import type { Meter } from '../metrics/index.ts'
import { decodeEvent, tagOf } from './event.ts'
import type { EventPublisher, EventWatch } from './publisher.ts'

/** Minimum time between two events whose lag is measured. */
const SAMPLE_INTERVAL_MS = 200
/** Larger events are not measured, since decoding them is expensive. */
const MAX_SAMPLE_BYTES = 64 * 1024

/** Create a watch that counts the events of a bus and measures their lag. */
export function createEventWatch(meter: Meter, now: () => number = Date.now): EventWatch {
  let sample: Uint8Array | undefined
  let sampledAt = 0
  return {
    fired(body) {
      meter.count('salt_events_fired', [eventKind(tagOf(body))])
      if (sample || body.length > MAX_SAMPLE_BYTES || now() - sampledAt < SAMPLE_INTERVAL_MS) return
      sample = body
      sampledAt = now()
    },
    delivered() {
      const firedAt = sample && timeOf(sample)
      sample = undefined
      if (firedAt !== undefined)
        meter.observe('salt_event_lag_seconds', Math.max(0, now() - firedAt) / 1000, [])
    },
    cutOff: () => meter.count('salt_event_readers_cut_off', []),
  }
}

/** Register gauges that are read from the publisher of a bus. */
export function meterEventBus(meter: Meter, publisher: Pick<EventPublisher, 'readers' | 'backlog'>): void {
  meter.read(() => [
    ['salt_event_readers', publisher.readers, []],
    ['salt_event_backlog_events', publisher.backlog, []],
  ])
}

/** Return the time at which an event was fired, from its `_stamp`; undefined if it has none. */
function timeOf(body: Uint8Array): number | undefined {
  try {
    const time = Date.parse(`${decodeEvent(body).data._stamp}Z`)
    return Number.isNaN(time) ? undefined : time
  } catch {
    return undefined
  }
}

/** Kinds of tags; the first match applies. See `tags`. */
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

/** Return the kind of an event as a metric label; `other` for events of users. */
export function eventKind(tag: string): string {
  return kinds.find(([, pattern]) => pattern.test(tag))?.[0] ?? 'other'
}
