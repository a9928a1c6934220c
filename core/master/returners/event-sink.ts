import type { Log } from '../../author/context.ts'
import { messageOf } from '../../base/errors.ts'
import type { MasterConfig } from '../../config/index.ts'
import { fnmatch } from '../../dialect/fnmatch.ts'
import type { Event, EventBus } from '../../events/index.ts'
import type { Outbox } from '../../outbox/outbox.ts'
import { targetsOf, targetText } from '../../outbox/outbox-target.ts'

/** Limits the events stored in one commit. On a busy disk a commit takes about the same time for one event or many. */
const MAX_EVENTS_PER_COMMIT = 5000

/** Return the returners of `event_return`. */
export const eventTargets = (config: MasterConfig): string[] => targetsOf(config.event_return).map(targetText)

export interface EventSinkSettings {
  readonly bus: EventBus
  readonly outbox: Outbox
  readonly log: Log
  /** Called when events were put into the outbox. */
  onQueued(): void
}

/** Put every selected event into the outbox of `event_return`; events that arrive together share a commit. */
export function openEventSink(
  config: MasterConfig,
  { bus, outbox, log, onQueued }: EventSinkSettings,
): { close(): Promise<void> } {
  const targets = eventTargets(config)
  const subscription = bus.subscribe(selectedBy(config), undefined, {
    maxEvents: Number.POSITIVE_INFINITY, // their bytes are bounded
    onGap: (missed) =>
      log.error(
        missed === undefined
          ? 'Events fired while the publisher was down are not in event_return.'
          : `${missed} events are not in event_return: they came faster than they could be stored.`,
      ),
  })

  async function pump(): Promise<void> {
    for await (const first of subscription) {
      const events = [first]
      for (let next = subscription.shift(); next; next = subscription.shift()) {
        events.push(next.event)
        if (events.length >= MAX_EVENTS_PER_COMMIT) break
      }
      await store(events)
    }
  }

  /** Store events. If the disk is full they are lost, which is logged. */
  async function store(events: readonly Event[]): Promise<void> {
    try {
      await outbox.add(
        targets,
        events.map(({ tag, data }) => ({ kind: 'event', tag, data })),
      )
      onQueued()
    } catch (error) {
      log.error(`${events.length} events are not in event_return: ${messageOf(error)}`)
    }
  }

  const ended = pump()
  return {
    async close() {
      subscription.close()
      await ended
    },
  }
}

/** Return the filter of `event_return_whitelist` and `event_return_blacklist`, which are shell patterns for tags. */
function selectedBy(config: MasterConfig): (tag: string) => boolean {
  const [white, black] = [config.event_return_whitelist, config.event_return_blacklist]
  const matches = (tag: string, patterns: readonly string[]) =>
    patterns.some((pattern) => fnmatch(tag, pattern))
  return (tag) => (white.length === 0 || matches(tag, white)) && !matches(tag, black)
}
