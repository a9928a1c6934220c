/** Evaluation of targets. See README.md. */
export { checkTarget } from './check-target.ts'
export { expandTarget } from './expand-target.ts'
export { certainMinions, type Expected, expectedMinions, MATCH_BUDGET_MS } from './expected.ts'
export { explainNoMatch } from './explain-no-match.ts'
export { createMatcher, defaultTargetType, type Target, type TargetMatcher } from './matcher.ts'
export { expandCompound, expandNodegroup } from './nodegroups.ts'
export { sizeProblem } from './target-size.ts'
