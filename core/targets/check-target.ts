import { messageOf, SaltError } from '../base/errors.ts'
import { parseNetwork } from '../base/net/ip-network.ts'
import { type CompoundTree, parseCompound } from '../dialect/compound-target.ts'
import { checkPathPcre } from '../dialect/path-expression.ts'
import { pythonRegExp } from '../dialect/python-regexp.ts'
import { missingValueText } from './explain-no-value.ts'
import type { Target } from './matcher.ts'
import { checkTargetSize } from './target-size.ts'

/**
 * Throw TARGET_INVALID, with a sentence, for a target that is invalid for every minion. For programs that do not load the matcher
 * plugins: it checks Salt's own target types and accepts all others.
 */
export function checkTarget(target: Target): void {
  checkTargetSize(target)
  const { tgt, tgt_type, delimiter } = target
  const [, kind] = /^(grain|pillar)(?:_pcre|_exact)?$/.exec(tgt_type) ?? []
  if (kind && typeof tgt === 'string' && !tgt.includes(delimiter || ':'))
    throw new SaltError('TARGET_INVALID', missingValueText(tgt, kind as 'grain' | 'pillar'))
  checkExpressions(target)
}

function checkExpressions({ tgt, tgt_type, delimiter }: Target): void {
  if (tgt_type === 'compound') checkLeaves(parseCompound(tgt))
  else if (typeof tgt !== 'string') return
  else if (tgt_type === 'pcre') pythonRegExp(tgt)
  else if (tgt_type === 'grain_pcre' || tgt_type === 'pillar_pcre') checkPathPcre(tgt, delimiter || ':')
  else if (tgt_type === 'ipcidr') parseNetwork(tgt)
}

function checkLeaves(tree: CompoundTree): void {
  if ('any' in tree) tree.any.forEach(checkLeaves)
  else if ('all' in tree) tree.all.forEach(checkLeaves)
  else if ('not' in tree) checkLeaves(tree.not)
  else checkLeaf(tree)
}

function checkLeaf({ type, expression, delimiter, word }: Extract<CompoundTree, { word: string }>): void {
  try {
    checkExpressions({ tgt: expression, tgt_type: type, ...(delimiter !== undefined && { delimiter }) })
  } catch (error) {
    throw new SaltError('TARGET_INVALID', `In the compound target, '${word}': ${messageOf(error)}`)
  }
}
