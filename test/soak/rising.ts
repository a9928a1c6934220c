/** Decides what a series of samples of one process says: that it leaks, that it holds others up, or neither. */
import { median } from '../bench/median.ts'

/** The first third is a warm-up: code is compiled, caches and pools fill, and the store reaches the size at which it stays. */
const WARM_UP = 1 / 3
/** What is left is compared part by part: a median for each, so that neither a peak nor a moment after a collection counts. */
const PARTS = 4
/** With fewer samples in a part, chance and late warming up look like a leak. */
const LEAST_IN_PART = 12

/** How much more a part must have than the one before it, so that it counts as a rise; of both, the greater one counts. */
export interface Tolerance {
  readonly least: number
  readonly share?: number
}

/** Heaps breathe by megabytes, and a table of descriptors or a pool of threads by one or two. */
export const TOLERANCES = {
  megabytes: { least: 2, share: 0.03 },
  descriptors: { least: 2 },
  threads: { least: 1 },
} as const satisfies Record<string, Tolerance>

/** Medians of the parts after the warm-up. */
function partsOf(values: readonly number[]): number[] {
  const warm = values.slice(Math.floor(values.length * WARM_UP))
  const bound = (part: number) => Math.round((part * warm.length) / PARTS)
  return Array.from({ length: PARTS }, (_, part) => median(warm.slice(bound(part), bound(part + 1))))
}

/** Whether each part has more than the one before it. Undefined: there are too few samples to tell. */
export function keepsRising(values: readonly number[], { least, share = 0 }: Tolerance): boolean | undefined {
  if (values.length * (1 - WARM_UP) < PARTS * LEAST_IN_PART) return undefined
  return partsOf(values).every((part, at, parts) => {
    const before = parts[at - 1]
    return before === undefined || part - before > Math.max(least, before * share)
  })
}

/** A series in three figures: its first value, and the medians of the first and of the last part after the warm-up. */
export function course(values: readonly number[]): readonly [start: number, warm: number, end: number] {
  const parts = partsOf(values)
  return [values[0] ?? Number.NaN, parts[0] as number, parts.at(-1) as number]
}

/** Each value is the longest delay in seconds, so also their median is one of bad moments, not of all. */
const MEDIAN_MS = 100
const STALL_MS = 1000
/** Of all samples; and a few are nothing: others use the machine, too. */
const STALLS_SHARE = 0.01
const STALLS_ALLOWED = 3

/** Whether an event loop is late as a rule, or stood still more than a few times. `delays`: the longest of each sample, milliseconds. */
export function isHeldUp(delays: readonly number[]): boolean {
  const stalls = delays.filter((delay) => delay > STALL_MS).length
  return median(delays) > MEDIAN_MS || stalls > Math.max(STALLS_ALLOWED, delays.length * STALLS_SHARE)
}
