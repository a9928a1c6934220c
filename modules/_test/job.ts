import type { Context } from 'salt-ts'

/** What a job says of itself as Python minions tell their functions: `__pub_<key>`, arguments without the mark of keywords. */
export function wordsOfJob({ job, nested }: Pick<Context, 'job' | 'nested'>): Record<string, unknown> {
  if (!job || nested) return {}
  const words = { ...job, ...(job.arg && { arg: job.arg.map(unmarked) }) }
  return Object.fromEntries(Object.entries(words).map(([key, value]) => [`__pub_${key}`, value]))
}

function unmarked(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('__kwarg__' in value)) return value
  const { __kwarg__, ...keywords } = value
  return keywords
}
