/** Targets: who is meant. See README.md. */
export { checkTarget } from './check-target.ts'
export { expandTarget } from './expand-target.ts'
export { type Expected, expectedMinions } from './expected.ts'
export { createMatcher, type Target, type TargetMatcher } from './matcher.ts'
export { expandCompound, expandNodegroup } from './nodegroups.ts'
export { whyTooLarge } from './target-size.ts'
export { whyNobody } from './why-nobody.ts'
