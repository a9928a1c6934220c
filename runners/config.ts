/** The configuration of the master. */
import { fn, p } from 'salt-ts'
import { masked } from '../modules/_config/mask.ts'
import { traverse } from '../modules/_values/traverse.ts'

/**
 * Return the value of an option, also from inside maps and lists. Passwords, tokens and the like are masked.
 *
 * @example salt-run config.get file_roots
 * @example salt-run config.get file_roots:base
 */
export const get = fn(
  { key: p.string(), default: p.default(p.any(), ''), delimiter: p.default(p.string(), ':') },
  ({ key, default: fallback, delimiter }, { opts }) =>
    traverse(masked(opts), key, fallback, delimiter) ?? fallback,
)
