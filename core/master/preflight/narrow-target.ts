import { compoundWords, saltLetters } from '../../dialect/compound-target.ts'
import type { Target } from '../../targets/index.ts'

/**
 * Restrict a target to these minions. Each minion matches the target by itself, with grains and pillar that may differ from
 * what the master has cached: a minion for which the job was not allowed must not run it.
 */
export function narrowTarget({ tgt, tgt_type, delimiter }: Target, ids: readonly string[]): Target {
  const words = ids.some((id) => id.includes(',')) ? undefined : wordsOf(tgt, tgt_type, delimiter)
  if (!words) return { tgt: ids, tgt_type: 'list' }
  return { tgt: ['(', ...words, ')', 'and', `L@${ids.join(',')}`], tgt_type: 'compound' }
}

/** Return the words of the equivalent compound target; undefined if there is none. */
function wordsOf(tgt: unknown, type: string, delimiter = ':'): readonly string[] | undefined {
  if (type === 'compound') return compoundWords(tgt)
  const [letter, { delimited }] = [...saltLetters].find(([, one]) => one.type === type) ?? [undefined, {}]
  if (letter === undefined || typeof tgt !== 'string' || delimiter.length !== 1) return undefined
  return [`${letter}${delimited && delimiter !== ':' ? delimiter : ''}@${tgt}`]
}
