/** What is said of each process that lived through at least half of the run. */
import { median } from '../bench/median.ts'
import { course, isHeldUp, keepsRising, TOLERANCES } from './rising.ts'
import type { Sample, Series } from './samples.ts'

export interface Verdict {
  readonly name: string
  /** In order: RSS, own memory, descriptors, threads, delay, own delay. */
  readonly figures: readonly string[]
  /** What is wrong. */
  readonly complaints: readonly string[]
  /** The run was too short to tell whether something rises. */
  readonly isShort: boolean
}

/** Those of processes that were there for half of these seconds. */
export const longLived = (series: readonly Series[], seconds: number): Series[] =>
  series.filter(({ samples }) => lifetime(samples) >= seconds / 2)

const lifetime = (samples: readonly Sample[]): number =>
  (samples.at(-1)?.seconds ?? 0) - (samples[0]?.seconds ?? 0)

export function verdictOf({ name, samples }: Series): Verdict {
  const values = (measure: keyof Sample) => samples.flatMap((sample) => sample[measure] ?? [])
  const rises = {
    'own memory': keepsRising(values('ownMegabytes'), TOLERANCES.megabytes),
    descriptors: keepsRising(values('descriptors'), TOLERANCES.descriptors),
    threads: keepsRising(values('threads'), TOLERANCES.threads),
  }
  const rising = Object.entries(rises).flatMap(([what, rises]) => (rises ? [`${what} keeps rising`] : []))
  return {
    name,
    figures: [
      ...(['residentMegabytes', 'ownMegabytes', 'descriptors', 'threads'] as const).map((measure) =>
        course(values(measure)).map(Math.round).join(' → '),
      ),
      ...(['delayMs', 'ownDelayMs'] as const).map((measure) => extent(values(measure))),
    ],
    complaints: [...rising, ...(isHeldUp(values('ownDelayMs')) ? ['the event loop is held up'] : [])],
    isShort: rises['own memory'] === undefined,
  }
}

const extent = (values: readonly number[]): string =>
  values.length ? [median(values), Math.max(...values)].map(Math.round).join(' / ') : ''
