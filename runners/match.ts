/** Whom a target means, by the facts the master has. Nobody is asked. */
import { fn, p } from 'salt-ts'

const delimiter = p.default(p.string(), ':')

/**
 * Minions a target means; under `unknown` those that may be meant, as the master does not know their grains or pillar,
 * under `missing` ids of a list without accepted key.
 *
 * @example salt-run match.target 'G@os:Debian and not web*' compound
 */
export const target = fn(
  { tgt: p.any(), tgt_type: p.default(p.string(), 'compound'), delimiter },
  ({ tgt, tgt_type, delimiter }, { master }) => master.match(tgt, tgt_type, { delimiter }),
)
