import type { Log } from '../author/context.ts'
import { messageOf } from '../base/errors.ts'
import { fnmatch } from '../base/fnmatch.ts'
import type { MasterConfig } from '../config/index.ts'
import type { Event, EventBus } from '../events/index.ts'
import type { Outbox } from '../jobs/outbox.ts'
import { targetsOf, targetText } from '../jobs/outbox-target.ts'

/** So many events are put into the outbox in one commit. On a busy disk each takes its time, however many they are. */
const MOST = 5000

/** Targets of `event_return`. */
export const eventTargets = (config: MasterConfig): string[] => targetsOf(config.event_return).map(targetText)

export interface EventSinkSettings {
  readonly bus: EventBus
  readonly outbox: Outbox
  readonly log: Log
  /** Told when events are in the outbox. */
  onQueued(): void
}

/** Puts every event that is wanted into the outbox of `event_return`, those that come together in one commit. */
export function openEventSink(
  config: MasterConfig,
  { bus, outbox, log, onQueued }: EventSinkSettings,
): { close(): Promise<void> } {
  const targets = eventTargets(config)
  const subscription = bus.subscribe(wantedBy(config), undefined, {
    maxEvents: Number.POSITIVE_INFINITY, // their bytes are bounded
    onGap: (missed) =>
      log.error(
        missed === undefined
          ? 'Events of the time in which the publisher was away are not in event_return.'
          : `${missed} events are not in event_return: they came faster than they could be stored.`,
      ),
  })

  async function pump(): Promise<void> {
    for await (const first of subscription) {
      const events = [first]
      for (let next = subscription.shift(); next; next = subscription.shift()) {
        events.push(next.event)
        if (events.length >= MOST) break
      }
      await store(events)
    }
  }

  /** A full disk is the only reason not to: then they are lost, and that is said. */
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

/** `event_return_whitelist` and `event_return_blacklist`: shell patterns of tags. */
function wantedBy(config: MasterConfig): (tag: string) => boolean {
  const [white, black] = [config.event_return_whitelist, config.event_return_blacklist]
  const matches = (tag: string, patterns: readonly string[]) =>
    patterns.some((pattern) => fnmatch(tag, pattern))
  return (tag) => (white.length === 0 || matches(tag, white)) && !matches(tag, black)
}
