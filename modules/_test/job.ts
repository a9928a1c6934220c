import type { Context } from 'salt-ts'

/** Fields that Salt's `salt-call` passes to functions. */
const OF_SALT_CALL = ['fun', 'jid', 'pid', 'tgt', 'metadata']

/**
 * Return the fields of a job as the keyword arguments `__pub_<key>` that Python minions pass to functions, with `__kwarg__`
 * removed from its arguments. Empty for calls within a job.
 */
export function jobKwargs({ job, nested }: Pick<Context, 'job' | 'nested'>): Record<string, unknown> {
  if (!job || nested) return {}
  const words = { ...job, ...(job.arg && { arg: job.arg.map(unmarked) }) }
  const isShown = (key: string) => job.tgt !== 'salt-call' || OF_SALT_CALL.includes(key)
  const shown = Object.entries(words).filter(([key]) => isShown(key))
  return Object.fromEntries(shown.map(([key, value]) => [`__pub_${key}`, value]))
}

function unmarked(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('__kwarg__' in value)) return value
  const { __kwarg__, ...keywords } = value
  return keywords
}
