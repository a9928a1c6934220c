import { valueText } from '../dialect/json.ts'

/** A number or percentage of minions, the value of `--batch` and `--batch-max-fail`. */
export type BatchSize = { readonly count: number } | { readonly percent: number }

/** Parse `3`, `10%` or `%10`, which Salt accepts as well. Return undefined for anything else. */
export function readBatchSize(given: unknown): BatchSize | undefined {
  const text = typeof given === 'number' ? String(given) : given
  if (typeof text !== 'string') return undefined
  const percent = /^(?:(\d+(?:\.\d+)?)%|%(\d+(?:\.\d+)?))$/.exec(text.trim())
  if (percent) return { percent: Number(percent[1] ?? percent[2]) }
  return /^\d+$/.test(text.trim()) ? { count: Number(text) } : undefined
}

/** Parse a batch size as `readBatchSize` does, but return undefined for zero. */
export function readBatch(given: unknown): BatchSize | undefined {
  const size = readBatchSize(given)
  return size && ('count' in size ? size.count : size.percent) > 0 ? size : undefined
}

/** Return the number of minions at a time. A percentage below one minion is one; others are rounded down, as in Salt. */
export function minionsAtOnce(size: BatchSize, available: number): number {
  if ('count' in size) return size.count
  const share = (size.percent / 100) * available
  return share < 1 ? Math.ceil(share) : Math.floor(share)
}

/** Return how many minions may fail before the batch stops. A percentage is rounded down. */
export function mayFail(size: BatchSize | undefined, available: number): number {
  if (!size) return Number.POSITIVE_INFINITY
  return 'count' in size ? size.count : Math.floor((size.percent / 100) * available)
}

export const invalidBatch = (given: unknown): string =>
  `Invalid batch data sent: ${valueText(given)}. It must be a number of minions, such as 3, or a percentage, such as 10%.`

export const invalidMaxFail = (given: unknown): string =>
  `Invalid batch data sent: ${valueText(given)} minions may fail. It must be a number, such as 3, or a percentage, such as 10%.`
