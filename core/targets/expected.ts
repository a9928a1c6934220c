import type { MatchSubject } from '../author/kinds.ts'
import { withMatchBudget } from '../dialect/python-regexp.ts'
import type { Target, TargetMatcher } from './matcher.ts'
import { checkTargetSize } from './target-size.ts'

/**
 * How long the regular expressions of a target, or of what one request looks up, may take for all minions together. A request may have both,
 * and a worker that is busy for three seconds counts as stuck.
 */
export const MATCH_BUDGET_MS = 1_500

export interface Expected {
  /** Ids of the minions to wait for. */
  readonly minions: string[]
  /** Members of `minions` that the target may not match: the master lacks their grains or pillar. */
  readonly unknown: string[]
  /** Ids of a list target that are not candidates. */
  readonly missing: string[]
}

/**
 * Return the minions to wait for (wire protocol §8.1, §15). `candidates` are the minions with an accepted key and the facts that the
 * master has cached. If these do not suffice to decide, a minion is expected. Throws TARGET_INVALID.
 */
export function expectedMinions(
  target: Target,
  candidates: Iterable<MatchSubject>,
  matcher: TargetMatcher,
): Expected {
  checkTargetSize(target)
  if (target.tgt_type === 'list') return { ...listed(target.tgt, candidates), unknown: [] }
  const decide = matcher.prepare(target)
  return withMatchBudget(MATCH_BUDGET_MS, () => {
    const minions: string[] = []
    const unknown: string[] = []
    for (const subject of candidates) {
      const verdict = decide(subject)
      if (verdict === false) continue
      minions.push(subject.id)
      if (verdict === 'unknown') unknown.push(subject.id)
    }
    return { minions, unknown, missing: [] }
  })
}

/** Return the minions that the target certainly matches. */
export function certainMinions({ minions, unknown }: Expected): string[] {
  const unsure = new Set(unknown)
  return minions.filter((id) => !unsure.has(id))
}

function listed(tgt: unknown, candidates: Iterable<MatchSubject>): { minions: string[]; missing: string[] } {
  const words: unknown[] = typeof tgt === 'string' ? tgt.split(',') : Array.isArray(tgt) ? tgt : []
  const unmatched = new Set(words.filter((id): id is string => typeof id === 'string' && id !== ''))
  const minions: string[] = []
  for (const { id } of candidates) if (unmatched.delete(id)) minions.push(id)
  return { minions, missing: [...unmatched] }
}
