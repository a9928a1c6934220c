import { compoundWords } from '../../dialect/compound-target.ts'
import { valueText } from '../../dialect/json.ts'
import type { Target } from '../../targets/index.ts'

const PILLAR = /^(?:I|J)(?:.?)@/u
const WILD = /[*?[\]]/

/**
 * Return why a minion may not use this target; undefined if it may. With patterns for pillar it could infer other minions'
 * pillar values from which of them match.
 */
export function peerTargetRefusal({ tgt, tgt_type }: Target): string | undefined {
  const words = tgt_type === 'compound' ? (compoundWords(tgt) ?? []) : []
  const isPattern =
    tgt_type === 'pillar_pcre' ||
    (tgt_type === 'pillar' && WILD.test(valueText(tgt))) ||
    words.some((word) => PILLAR.test(word) && (word.startsWith('J') || WILD.test(word)))
  return isPattern
    ? 'Minions may use pillar in targets with exact values only, not with patterns.'
    : undefined
}
