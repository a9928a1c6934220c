/**
 * Selects by several targets joined by `and`, `or`, `not`, `(` and `)`, each a separate word: `web* and not G@env:prod`.
 * `not` binds tighter than `and`, `and` tighter than `or`; `a not b` is `a and not b`.
 */

import { type MatchResult, type MatchSubject, matcher } from 'salt-ts'
import { type CompoundLeaf, type CompoundTree, parseCompound } from '#internal'

type Decide = (subject: MatchSubject) => MatchResult

export default matcher({
  prepare: (expression, { letters, prepare }) =>
    decided(parseCompound(expression, letters), (leaf) =>
      prepare(leaf.type, leaf.expression, leaf.delimiter),
    ),
})

function decided(tree: CompoundTree, leaf: (leaf: CompoundLeaf) => Decide): Decide {
  if ('any' in tree) return anyOf(tree.any.map((part) => decided(part, leaf)))
  if ('all' in tree) return allOf(tree.all.map((part) => decided(part, leaf)))
  if ('not' in tree) return noneOf(decided(tree.not, leaf))
  return leaf(tree)
}

/** True if one part is true; else unknown if one is unknown. */
function anyOf(parts: readonly Decide[]): Decide {
  return (subject) => {
    let verdict: MatchResult = false
    for (const part of parts) {
      const one = part(subject)
      if (one === true) return true
      if (one === 'unknown') verdict = one
    }
    return verdict
  }
}

/** False if one part is false; else unknown if one is unknown. */
function allOf(parts: readonly Decide[]): Decide {
  return (subject) => {
    let verdict: MatchResult = true
    for (const part of parts) {
      const one = part(subject)
      if (one === false) return false
      if (one === 'unknown') verdict = one
    }
    return verdict
  }
}

function noneOf(part: Decide): Decide {
  return (subject) => {
    const verdict = part(subject)
    return verdict === 'unknown' ? verdict : !verdict
  }
}
