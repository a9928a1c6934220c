import { type MetricName, metrics } from './catalogue.ts'
import { addTo, copyOf, keyOf, type Series, type Snapshot } from './snapshot.ts'

interface Known {
  readonly instance: number
  readonly snapshot: Snapshot
}

/**
 * Sums over several processes: values with the same labels are added up. Counts of a replaced process are kept, so that counters
 * never decrease.
 */
export class MetricTotals {
  readonly #known = new Map<string, Known>()
  #past: Snapshot = {}

  /** Store the current snapshot of the named process. `instance` distinguishes it from its predecessor. */
  take(name: string, instance: number, snapshot: Snapshot): void {
    const before = this.#known.get(name)
    if (before && before.instance !== instance) this.#past = merged([this.#past, countsOf(before.snapshot)])
    this.#known.set(name, { instance, snapshot })
  }

  sum(): Snapshot {
    return merged([this.#past, ...Array.from(this.#known.values(), ({ snapshot }) => snapshot)])
  }
}

/** Return the counters and histograms of a process that has ended; its gauges no longer apply. */
function countsOf(snapshot: Snapshot): Snapshot {
  const counted = Object.entries(snapshot).filter(([name]) =>
    ['counter', 'histogram'].includes(metrics[name as MetricName].type),
  )
  return Object.fromEntries(counted)
}

function merged(snapshots: readonly Snapshot[]): Snapshot {
  const sums = new Map<string, Map<string, Series>>()
  for (const snapshot of snapshots)
    for (const [name, list] of Object.entries(snapshot)) {
      const family = sums.get(name) ?? new Map<string, Series>()
      sums.set(name, family)
      for (const series of list) {
        const key = keyOf(series.labels)
        const known = family.get(key)
        if (known) addTo(known, series)
        else family.set(key, copyOf(series))
      }
    }
  return Object.fromEntries(Array.from(sums, ([name, family]) => [name, [...family.values()]]))
}
