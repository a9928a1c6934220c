/** Reads what programs tell of themselves in Prometheus' text format and in OpenMetrics, and takes no liberties. */

interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export interface Family {
  readonly name: string
  readonly type: string
  readonly help: string
  readonly unit: string | undefined
  readonly samples: readonly Sample[]
}

type Format = 'openmetrics' | 'prometheus'

/** Suffixes that samples of a family of a type may have; in the older format families of counters have theirs in the name. */
const suffixes: Record<Format, Record<string, readonly string[]>> = {
  openmetrics: {
    counter: ['_total'],
    gauge: [''],
    histogram: ['_bucket', '_sum', '_count'],
    info: ['_info'],
  },
  prometheus: { counter: [''], gauge: [''], histogram: ['_bucket', '_sum', '_count'] },
}

/** Families by name. @throws Error with the line that is against the format. */
export function readExposition(text: string, format: Format): Map<string, Family> {
  const families = new Map<string, Family & { samples: Sample[] }>()
  const lines = text.split('\n')
  if (lines.pop() !== '') throw new Error('The last line does not end with a line feed.')
  if (format === 'openmetrics' && lines.pop() !== '# EOF') throw new Error('It does not end with # EOF.')
  let current:
    | { name: string; type: string; help: string; unit: string | undefined; samples: Sample[] }
    | undefined
  for (const line of lines) {
    const [, word, name = '', rest = ''] = /^# (HELP|TYPE|UNIT) ([a-z_][a-z0-9_]*) (.*)$/.exec(line) ?? []
    if (word === 'HELP') {
      if (families.has(name)) throw new Error(`The family ${name} is there twice.`)
      current = { name, type: '', help: rest, unit: undefined, samples: [] }
      families.set(name, current)
    } else if (line.startsWith('#')) {
      if (!word || current?.name !== name || current.samples.length > 0)
        throw new Error(`Out of place: ${line}`)
      if (word === 'TYPE') current.type = rest
      else if (format === 'prometheus' || !name.endsWith(`_${rest}`)) throw new Error(`Wrong unit: ${line}`)
      else current.unit = rest
    } else if (current) current.samples.push(readSample(line))
    else throw new Error(`A sample of no family: ${line}`)
  }
  for (const family of families.values()) checkFamily(family, format)
  return families
}

function readSample(line: string): Sample {
  const [, name = '', labels = '', number = ''] = /^([a-z_][a-z0-9_]*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
  const value = Number(number)
  if (name === '' || Number.isNaN(value)) throw new Error(`No sample: ${line}`)
  const found: Record<string, string> = {}
  const rest = labels.replace(
    /([a-z_][a-z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,(?=.)|$)/gy,
    (_, label: string, text: string) => {
      if (Object.hasOwn(found, label)) throw new Error(`A label twice: ${line}`)
      found[label] = text.replace(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped))
      return ''
    },
  )
  if (rest !== '') throw new Error(`Labels that cannot be read: ${line}`)
  return { name, labels: found, value }
}

function checkFamily({ name, type, help, samples }: Family, format: Format): void {
  const allowed = suffixes[format][type]
  if (!allowed) throw new Error(`${name} has the type ${type}.`)
  if (help === '' || samples.length === 0) throw new Error(`${name} has no help, or no samples.`)
  if (format === 'openmetrics' && /_(total|info)$/.test(name))
    throw new Error(`${name} has a suffix of samples.`)
  const seen = new Set<string>()
  for (const sample of samples) {
    if (!allowed.some((suffix) => sample.name === name + suffix))
      throw new Error(`${sample.name} is not of ${name}.`)
    const key = `${sample.name} ${JSON.stringify(sample.labels)}`
    if (seen.has(key)) throw new Error(`Twice: ${key}`)
    seen.add(key)
    if (type === 'counter' && !(sample.value >= 0)) throw new Error(`A counter below 0: ${key}`)
  }
  if (type === 'histogram') checkHistogram(name, samples)
}

/** Buckets never fall, end with +Inf, and that is the count. */
function checkHistogram(name: string, samples: readonly Sample[]): void {
  for (const [labels, list] of groups(samples)) {
    const buckets = list.filter((sample) => sample.name === `${name}_bucket`)
    const bounds = buckets.map(({ labels }) =>
      labels.le === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels.le),
    )
    const isSorted = (values: readonly number[]) =>
      values.every((value, at) => at === 0 || value >= values[at - 1]!)
    const count = list.find((sample) => sample.name === `${name}_count`)
    const isWhole = bounds.at(-1) === Number.POSITIVE_INFINITY && buckets.at(-1)?.value === count?.value
    if (!isWhole || !isSorted(bounds) || !isSorted(buckets.map(({ value }) => value)))
      throw new Error(`The histogram ${name} ${labels} does not add up.`)
  }
}

/** By their labels, but the bound. */
function groups(samples: readonly Sample[]): Map<string, Sample[]> {
  const found = new Map<string, Sample[]>()
  for (const sample of samples) {
    const { le, ...labels } = sample.labels
    const key = JSON.stringify(labels)
    found.set(key, [...(found.get(key) ?? []), sample])
  }
  return found
}

/** The value of the only sample of that name with at least these labels. */
export function sampleOf(
  families: ReadonlyMap<string, Family>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const found = [...families.values()]
    .flatMap(({ samples }) => samples)
    .filter((sample) => sample.name === name)
    .filter((sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value))
  if (found.length > 1) throw new Error(`${found.length} samples of ${name} fit.`)
  return found[0]?.value
}

/** Read `/metrics` of a program of this host. */
export async function scrape(
  port: number,
  format: Format = 'openmetrics',
): Promise<{ families: Map<string, Family>; text: string; type: string | null }> {
  const accept = format === 'openmetrics' ? 'application/openmetrics-text; version=1.0.0' : 'text/plain'
  const response = await fetch(`http://127.0.0.1:${port}/metrics`, { headers: { accept } })
  const text = await response.text()
  return { families: readExposition(text, format), text, type: response.headers.get('content-type') }
}
