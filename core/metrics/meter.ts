import {
  BUCKETS_SECONDS,
  type CounterName,
  type HistogramName,
  type LabelsOf,
  MAX_SERIES,
  type MetricName,
  type ReadName,
} from './catalogue.ts'
import { keyOf, type Series, type Snapshot } from './snapshot.ts'

/** A value that is stored elsewhere, with its labels. */
export type Reading = { [N in ReadName]: readonly [name: N, value: number, labels: LabelsOf<N>] }[ReadName]

type Source = () => readonly Reading[] | Promise<readonly Reading[]>

/** Maximum number of characters of a label. */
const MAX_LABEL_CHARACTERS = 100
const OTHER = 'other'

/** The metrics of one process. If metrics are disabled there is no meter. */
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
      counts: new Array<number>(BUCKETS_SECONDS.length + 1).fill(0),
      sum: 0,
    }))
    if (!('counts' in series)) return
    const bucket = BUCKETS_SECONDS.findIndex((bound) => seconds <= bound)
    const index = bucket < 0 ? BUCKETS_SECONDS.length : bucket
    series.counts[index] = (series.counts[index] ?? 0) + 1
    series.sum += seconds
  }

  /** Register a source of values that is read at each scrape. A source that fails is skipped. */
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
    const kept = family.size < MAX_SERIES ? shortened(labels) : labels.map(() => OTHER)
    const key = keyOf(kept)
    const series = family.get(key) ?? create(kept)
    family.set(key, series)
    return series
  }
}

const shortened = (labels: readonly string[]) => labels.map((label) => label.slice(0, MAX_LABEL_CHARACTERS))

const orNothing = (readings: Promise<readonly Reading[]>) => readings.catch((): readonly Reading[] => [])
