import type { MatchSubject } from '../author/kinds.ts'
import type { Target, TargetMatcher } from './matcher.ts'

/**
 * Whom to wait for (wire protocol §8.1, §15). `candidates` are the minions with an accepted key, with the facts the
 * master has cached; where these do not suffice to decide, a minion is expected. `missing`: ids of a list target that
 * are no candidates.
 */
export function expectedMinions(
  target: Target,
  candidates: Iterable<MatchSubject>,
  matcher: TargetMatcher,
): { minions: string[]; missing: string[] } {
  if (target.tgt_type === 'list') return listed(target.tgt, candidates)
  const minions: string[] = []
  for (const subject of candidates) {
    if (matcher.match(target, subject) !== false) minions.push(subject.id)
  }
  return { minions, missing: [] }
}

function listed(tgt: unknown, candidates: Iterable<MatchSubject>): { minions: string[]; missing: string[] } {
  const words: unknown[] = typeof tgt === 'string' ? tgt.split(',') : Array.isArray(tgt) ? tgt : []
  const wanted = new Set(words.filter((id): id is string => typeof id === 'string' && id !== ''))
  const minions: string[] = []
  for (const { id } of candidates) if (wanted.delete(id)) minions.push(id)
  return { minions, missing: [...wanted] }
}
