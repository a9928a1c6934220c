/**
 * Several targets joined by `and`, `or`, `not`, `(` and `)`, each a word of its own: `web* and not G@env:prod`.
 * `not` binds tighter than `and`, `and` tighter than `or`; `a not b` means `a and not b`.
 */
import {
  type CompoundLeaf,
  type CompoundTree,
  type MatchSubject,
  matcher,
  parseCompound,
  type Verdict,
} from 'salt-ts'

type Decide = (subject: MatchSubject) => Verdict

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

/** Yes if one says yes; unknown if one of the others might. */
function anyOf(parts: readonly Decide[]): Decide {
  return (subject) => {
    let verdict: Verdict = false
    for (const part of parts) {
      const one = part(subject)
      if (one === true) return true
      if (one === 'unknown') verdict = one
    }
    return verdict
  }
}

/** No if one says no; unknown if one of the others might. */
function allOf(parts: readonly Decide[]): Decide {
  return (subject) => {
    let verdict: Verdict = true
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
