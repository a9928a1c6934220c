import { compoundWords, saltLetters } from '../base/compound-target.ts'
import type { Target } from '../targets/index.ts'

/**
 * The same target, for none but these minions. Each decides by itself whether it is meant, by facts that may be others than
 * the master thinks: one for which a job was not allowed must not take it for itself.
 */
export function narrowTarget({ tgt, tgt_type, delimiter }: Target, ids: readonly string[]): Target {
  const words = ids.some((id) => id.includes(',')) ? undefined : wordsOf(tgt, tgt_type, delimiter)
  if (!words) return { tgt: ids, tgt_type: 'list' }
  return { tgt: ['(', ...words, ')', 'and', `L@${ids.join(',')}`], tgt_type: 'compound' }
}

/** Of a compound target that means the same; undefined if there is none. */
function wordsOf(tgt: unknown, type: string, delimiter = ':'): readonly string[] | undefined {
  if (type === 'compound') return compoundWords(tgt)
  const [letter, { delimited }] = [...saltLetters].find(([, one]) => one.type === type) ?? [undefined, {}]
  if (letter === undefined || typeof tgt !== 'string' || delimiter.length !== 1) return undefined
  return [`${letter}${delimited && delimiter !== ':' ? delimiter : ''}@${tgt}`]
}
