/** Targets: who is meant. See README.md. */
export { expectedMinions } from './expected.ts'
export { createMatcher, type Target, type TargetMatcher } from './matcher.ts'
export { expandCompound, expandNodegroup, type Nodegroups } from './nodegroups.ts'
