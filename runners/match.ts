/** The minions that a target selects, by the facts in the master's cache. The minions are not contacted. */
import { fn, p } from 'salt-ts'
import { tgt } from './_target.ts'

const delimiter = p.default(p.string(), ':')

/**
 * List the minions that a target selects. `unknown` has minions that may be selected: the master does not have their
 * grains or pillar. `missing` has ids of a list that have no accepted key.
 *
 * @example salt-run match.target 'G@os:Debian and not web*' compound
 */
export const target = fn(
  { tgt, tgt_type: p.default(p.string(), 'compound'), delimiter },
  ({ tgt, tgt_type, delimiter }, { master }) => master.match(tgt, tgt_type, { delimiter }),
)
