import { type CompoundTree, parseCompound } from '../base/compound-target.ts'
import { messageOf, SaltError } from '../base/errors.ts'
import { parseNetwork } from '../base/ip-network.ts'
import { checkPathPcre } from '../base/path-expression.ts'
import { pythonRegExp } from '../base/python-regexp.ts'
import type { Target } from './matcher.ts'
import { checkSize } from './target-size.ts'
import { noValue } from './why-no-path.ts'

/**
 * Throws TARGET_INVALID, with a sentence, for what no minion could make sense of. For programs that do not load the
 * matcher plugins: it knows Salt's own target types and lets any other pass.
 */
export function checkTarget(target: Target): void {
  checkSize(target)
  const { tgt, tgt_type, delimiter } = target
  const [, kind] = /^(grain|pillar)(?:_pcre|_exact)?$/.exec(tgt_type) ?? []
  if (kind && typeof tgt === 'string' && !tgt.includes(delimiter || ':'))
    throw new SaltError('TARGET_INVALID', noValue(tgt, kind as 'grain' | 'pillar'))
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
