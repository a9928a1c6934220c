import { type Clock, systemClock } from '../base/clock.ts'
import type { Outbox } from '../jobs/outbox.ts'
import { targetFrom } from '../jobs/outbox-target.ts'
import type { Meter, Reading } from '../metrics/index.ts'

/** Have a meter tell of what is on its way to stores. Targets that differ in their options are one. */
export function readOutboxes(meter: Meter, outboxes: readonly Outbox[], clock: Clock = systemClock): void {
  meter.read(() => {
    const returners = new Map<string, Standing>()
    for (const outbox of outboxes)
      for (const target of outbox.known()) {
        const { name } = targetFrom(target)
        returners.set(name, together(returners.get(name), standingOf(outbox, target, clock)))
      }
    return [...returners].flatMap(([name, { queued, dead, age, written, up }]): Reading[] => [
      ['salt_returner_queued', queued, [name]],
      ['salt_returner_dead', dead, [name]],
      ['salt_returner_oldest_seconds', age, [name]],
      ['salt_returner_written', written, [name]],
      ['salt_returner_up', up, [name]],
    ])
  })
}

interface Standing {
  readonly queued: number
  readonly dead: number
  /** Seconds. */
  readonly age: number
  readonly written: number
  readonly up: number
}

function standingOf(outbox: Outbox, target: string, clock: Clock): Standing {
  const { queued, dead, oldest } = outbox.counts(target)
  const state = outbox.state(target)
  return {
    queued,
    dead,
    age: oldest === undefined ? 0 : Math.max(0, clock.now() - oldest) / 1000,
    written: state?.written ?? 0,
    up: state?.state === 'down' ? 0 : 1,
  }
}

function together(one: Standing | undefined, other: Standing): Standing {
  if (!one) return other
  return {
    queued: one.queued + other.queued,
    dead: one.dead + other.dead,
    age: Math.max(one.age, other.age),
    written: one.written + other.written,
    up: Math.min(one.up, other.up),
  }
}
