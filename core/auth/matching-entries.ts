import { matchesName } from '../dialect/name-pattern.ts'

/** A key of `external_auth.<backend>` or `publisher_acl` that matches a caller, with its entries. */
export type MatchingEntry = readonly [key: string, entries: unknown]

/** Whether a key is a setting of the backend, like `^filename`; `^fred.*$` is a pattern. */
export const isSetting = (key: string): boolean => /^\^\w+$/.test(key)

export interface RightsHolder {
  readonly name: string
  /** Group names without `%`. */
  readonly groups: readonly string[]
}

/**
 * Return the keys that match a caller: the name, patterns for it, and `group%`. `*` matches callers whom no other key matches by
 * name; with `always`, as in `publisher_acl` and with `permissive_acl`, it matches everybody.
 */
export function matchingEntries(
  map: Readonly<Record<string, unknown>>,
  { name, groups }: RightsHolder,
  { always }: { readonly always: boolean },
): MatchingEntry[] {
  const found: MatchingEntry[] = []
  let isNamed = false
  for (const [key, entries] of Object.entries(map)) {
    if (isSetting(key) || key === '*') continue
    const isGroup = key.endsWith('%')
    if (isGroup ? !groups.includes(key.slice(0, -1)) : !matchesName(key, name)) continue
    isNamed ||= !isGroup
    found.push([key, entries])
  }
  const everybody = Object.hasOwn(map, '*') && (always || !isNamed)
  return everybody ? [...found, ['*', map['*']]] : found
}

/** Return the name whose rights count: `sudo_fred` has those of fred. */
export const localName = (name: string): string =>
  name.startsWith('sudo_') ? name.slice('sudo_'.length) : name
