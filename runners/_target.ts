/** The parameters that select minions, with Salt's names. */
import { p } from 'salt-ts'

/** An expression such as `web*`, or a list of ids or of the words of a compound expression. */
export const tgt = p.union(p.string(), p.array(p.string()))

export const tgt_type = p.default(p.string(), 'glob')
