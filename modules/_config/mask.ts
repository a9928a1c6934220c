import { entriesOf, isMapping } from '../_values/traverse.ts'

const SECRET =
  /(^|[._-])(pass|passwd|bind_?pw|password|passphrase|secret|secret_?key|token|api_?key|access_?key|priv(ate)?_?key|community|credentials?)s?$/i
const MASK = '**********'

/** Copy a configuration and mask the values of keys that look like names of secrets, at any depth. */
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
