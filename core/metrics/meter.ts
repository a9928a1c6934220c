import {
  BUCKETS,
  type CounterName,
  type HistogramName,
  type LabelsOf,
  type MetricName,
  MOST_SERIES,
  type ReadName,
} from './catalogue.ts'
import { keyOf, type Series, type Snapshot } from './snapshot.ts'

/** A value that is kept elsewhere, with its labels. */
export type Reading = { [N in ReadName]: readonly [name: N, value: number, labels: LabelsOf<N>] }[ReadName]

type Source = () => readonly Reading[] | Promise<readonly Reading[]>

/** A label is no longer than this. */
const LONGEST = 100
const OTHER = 'other'

/** What one process counts. Where nobody wants to know there is none, and what would count has nothing to call. */
export class Meter {
  readonly #families = new Map<MetricName, Map<string, Series>>()
  readonly #sources: Source[] = []

  count<N extends CounterName>(name: N, labels: LabelsOf<N>, by = 1): void {
    const series = this.#series(name, labels, (kept) => ({ labels: kept, value: 0 }))
    if ('value' in series) series.value += by
  }

  observe<N extends HistogramName>(name: N, seconds: number, labels: LabelsOf<N>): void {
    const series = this.#series(name, labels, (kept) => ({
      labels: kept,
      counts: new Array<number>(BUCKETS.length + 1).fill(0),
      sum: 0,
    }))
    if (!('counts' in series)) return
    const bucket = BUCKETS.findIndex((bound) => seconds <= bound)
    const index = bucket < 0 ? BUCKETS.length : bucket
    series.counts[index] = (series.counts[index] ?? 0) + 1
    series.sum += seconds
  }

  /** What is known anyway is read when somebody asks. A source that fails has nothing to say then. */
  read(source: Source): void {
    this.#sources.push(source)
  }

  async snapshot(): Promise<Snapshot> {
    const found: { [N in MetricName]?: Series[] } = {}
    for (const [name, series] of this.#families) found[name] = [...series.values()]
    const readings = await Promise.all(this.#sources.map(async (source) => source()).map(orNothing))
    for (const [name, value, labels] of readings.flat()) {
      found[name] ??= []
      found[name].push({ labels: shortened(labels), value })
    }
    return found
  }

  #series(
    name: MetricName,
    labels: readonly string[],
    create: (labels: readonly string[]) => Series,
  ): Series {
    let family = this.#families.get(name)
    if (!family) {
      family = new Map()
      this.#families.set(name, family)
    }
    const known = family.get(keyOf(labels))
    if (known) return known
    const kept = family.size < MOST_SERIES ? shortened(labels) : labels.map(() => OTHER)
    const key = keyOf(kept)
    const series = family.get(key) ?? create(kept)
    family.set(key, series)
    return series
  }
}

const shortened = (labels: readonly string[]) => labels.map((label) => label.slice(0, LONGEST))

const orNothing = (readings: Promise<readonly Reading[]>) => readings.catch((): readonly Reading[] => [])
