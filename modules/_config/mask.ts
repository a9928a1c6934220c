import { entriesOf, isMapping } from '../_values/traverse.ts'

const SECRET =
  /(^|[._-])(pass|passwd|password|passphrase|secret|secret_?key|token|api_?key|access_?key|priv(ate)?_?key|community|credentials?)s?$/i
const MASK = '**********'

/** A copy of a configuration with everything that is named like a secret masked, at any depth. */
export function masked(value: unknown, secret = false): unknown {
  if (Array.isArray(value)) return value.map((element) => masked(element, secret))
  if (isMapping(value)) {
    return Object.fromEntries(
      entriesOf(value).map(([key, inner]) => [key, masked(inner, secret || SECRET.test(key))]),
    )
  }
  if (!secret || value === null || value === undefined || value === '' || typeof value === 'boolean')
    return value
  return MASK
}
