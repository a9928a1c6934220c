import { SaltInvocationError } from 'salt-ts'
import { fnmatch } from '#internal'
import { mergeDeep } from './merge.ts'
import { entriesOf, isMapping } from './traverse.ts'

/** Options of picking a value from a map whose keys are globs. */
interface Choice {
  readonly default: string
  /** Key of a map into which the picked value is merged. */
  readonly base?: string | undefined
  /** Map to merge into the picked value. */
  readonly merge?: unknown
}

/**
 * Return the value whose key, a glob, matches the found value (or one of several); else that of `default`; else null.
 */
export function pickBy(lookup: unknown, found: unknown, choice: Choice): unknown {
  if (!isMapping(lookup)) throw new SaltInvocationError('filter_by lookup_dict must be a dictionary.')
  const pairs = entriesOf(lookup)
  const picked =
    firstMatch(pairs, [found].flat()) ?? pairs.find(([key]) => key === choice.default)?.[1] ?? null
  const below = choice.base ? pairs.find(([key]) => key === choice.base)?.[1] : undefined
  return withMerge(withBase(picked, below), choice.merge)
}

function firstMatch(pairs: readonly (readonly [string, unknown])[], values: readonly unknown[]): unknown {
  for (const value of values) {
    const match = pairs.find(([glob, result]) => result !== null && fnmatch(String(value), glob))
    if (match) return match[1]
  }
  return undefined
}

function withBase(picked: unknown, below: unknown): unknown {
  if (below === undefined || below === null) return picked
  if (picked === null || !isMapping(below)) return picked ?? below
  if (isMapping(picked)) return mergeDeep(below, picked)
  throw new SaltInvocationError('filter_by default and look-up values must both be dictionaries.')
}

function withMerge(picked: unknown, merge: unknown): unknown {
  if (merge === undefined || merge === null) return picked
  if (!isMapping(merge)) throw new SaltInvocationError('filter_by merge argument must be a dictionary.')
  if (picked === null) return merge
  if (isMapping(picked)) return mergeDeep(picked, merge)
  throw new SaltInvocationError(
    'filter_by can merge only into a dictionary, and the selected value is not one.',
  )
}
