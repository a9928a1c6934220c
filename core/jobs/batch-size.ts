/** So many minions, or so many percent of them, as `--batch` and `--batch-max-fail` say it. */
export type BatchSize = { readonly count: number } | { readonly percent: number }

/** Undefined for what is neither `3` nor `10%` (nor `%10`, which Salt takes as well). */
export function readBatchSize(given: unknown): BatchSize | undefined {
  const text = typeof given === 'number' ? String(given) : given
  if (typeof text !== 'string') return undefined
  const percent = /^(?:(\d+(?:\.\d+)?)%|%(\d+(?:\.\d+)?))$/.exec(text.trim())
  if (percent) return { percent: Number(percent[1] ?? percent[2]) }
  return /^\d+$/.test(text.trim()) ? { count: Number(text) } : undefined
}

/** The same, but at least one minion at a time has to come of it. */
export function readBatch(given: unknown): BatchSize | undefined {
  const size = readBatchSize(given)
  return size && ('count' in size ? size.count : size.percent) > 0 ? size : undefined
}

/** How many at a time that is: a share of less than one minion is one, any other is rounded down, as in Salt. */
export function minionsAtOnce(size: BatchSize, available: number): number {
  if ('count' in size) return size.count
  const share = (size.percent / 100) * available
  return share < 1 ? Math.ceil(share) : Math.floor(share)
}

/** How many may fail before the batch stops; a share is rounded down. */
export function mayFail(size: BatchSize | undefined, available: number): number {
  if (!size) return Number.POSITIVE_INFINITY
  return 'count' in size ? size.count : Math.floor((size.percent / 100) * available)
}

export const invalidBatch = (given: unknown): string =>
  `Invalid batch data sent: ${String(given)}. It must be a number of minions, such as 3, or a share of them, such as 10%.`

export const invalidMaxFail = (given: unknown): string =>
  `Invalid batch data sent: ${String(given)} minions may fail. It must be a number, such as 3, or a share, such as 10%.`
