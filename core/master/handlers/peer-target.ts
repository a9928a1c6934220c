import { compoundWords } from '../../base/compound-target.ts'
import type { Target } from '../../targets/index.ts'

const PILLAR = /^(?:I|J)(?:.?)@/u
const WILD = /[*?[\]]/

/**
 * Why a minion may not use this target: with patterns for pillar it could find out, by who is meant, what pillar of others
 * holds. Undefined if it may.
 */
export function whyNotForPeers({ tgt, tgt_type }: Target): string | undefined {
  const words = tgt_type === 'compound' ? (compoundWords(tgt) ?? []) : []
  const isPattern =
    tgt_type === 'pillar_pcre' ||
    (tgt_type === 'pillar' && WILD.test(String(tgt))) ||
    words.some((word) => PILLAR.test(word) && (word.startsWith('J') || WILD.test(word)))
  return isPattern
    ? 'Minions may use pillar in targets with exact values only, not with patterns.'
    : undefined
}
