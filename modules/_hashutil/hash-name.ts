import { getHashes } from 'node:crypto'

const RENAMED: Readonly<Record<string, string>> = { blake2b: 'blake2b512', blake2s: 'blake2s256' }

/** Return Node's name for a hash as Python's `hashlib` names it, such as `sha3_256`; undefined if there is none. */
export function hashName(name: string): string | undefined {
  const known = getHashes()
  return [name, RENAMED[name] ?? name, name.replace('_', '-')].find((candidate) => known.includes(candidate))
}
