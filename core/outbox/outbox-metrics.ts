import { type Clock, systemClock } from '../base/clock.ts'
import type { Meter, Reading } from '../metrics/index.ts'
import type { Outbox } from './outbox.ts'
import { targetFrom } from './outbox-target.ts'

/** Register gauges for the outbox queues. Targets of one returner with different options are added up. */
export function readOutboxes(meter: Meter, outboxes: readonly Outbox[], clock: Clock = systemClock): void {
  meter.read(() => {
    const returners = new Map<string, Totals>()
    for (const outbox of outboxes)
      for (const target of outbox.known()) {
        const { name } = targetFrom(target)
        returners.set(name, sum(returners.get(name), totalsOf(outbox, target, clock)))
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

interface Totals {
  readonly queued: number
  readonly dead: number
  /** Age of the oldest item in seconds. */
  readonly age: number
  readonly written: number
  readonly up: number
}

function totalsOf(outbox: Outbox, target: string, clock: Clock): Totals {
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

function sum(one: Totals | undefined, other: Totals): Totals {
  if (!one) return other
  return {
    queued: one.queued + other.queued,
    dead: one.dead + other.dead,
    age: Math.max(one.age, other.age),
    written: one.written + other.written,
    up: Math.min(one.up, other.up),
  }
}
