import type { MatchSubject } from '../author/kinds.ts'
import type { Target, TargetMatcher } from './matcher.ts'
import { checkSize } from './target-size.ts'

export interface Expected {
  /** Whom to wait for. */
  readonly minions: string[]
  /** Which of them are perhaps not meant: too little is known of them here. */
  readonly unknown: string[]
  /** Ids of a list target that are no candidates. */
  readonly missing: string[]
}

/**
 * Whom to wait for (wire protocol §8.1, §15). `candidates` are the minions with an accepted key, with the facts the
 * master has cached; where these do not suffice to decide, a minion is expected. Throws TARGET_INVALID.
 */
export function expectedMinions(
  target: Target,
  candidates: Iterable<MatchSubject>,
  matcher: TargetMatcher,
): Expected {
  checkSize(target)
  if (target.tgt_type === 'list') return { ...listed(target.tgt, candidates), unknown: [] }
  const decide = matcher.prepare(target)
  const minions: string[] = []
  const unknown: string[] = []
  for (const subject of candidates) {
    const verdict = decide(subject)
    if (verdict === false) continue
    minions.push(subject.id)
    if (verdict === 'unknown') unknown.push(subject.id)
  }
  return { minions, unknown, missing: [] }
}

function listed(tgt: unknown, candidates: Iterable<MatchSubject>): { minions: string[]; missing: string[] } {
  const words: unknown[] = typeof tgt === 'string' ? tgt.split(',') : Array.isArray(tgt) ? tgt : []
  const wanted = new Set(words.filter((id): id is string => typeof id === 'string' && id !== ''))
  const minions: string[] = []
  for (const { id } of candidates) if (wanted.delete(id)) minions.push(id)
  return { minions, missing: [...wanted] }
}
