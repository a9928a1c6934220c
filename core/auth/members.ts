import { namedBy } from '../base/name-pattern.ts'

/** A key of `external_auth.<backend>` or `publisher_acl` that means somebody, with its entries. */
export type Applying = readonly [key: string, entries: unknown]

/** `^filename` is for the backend; `^fred.*$` is a pattern. */
export const isSetting = (key: string): boolean => /^\^\w+$/.test(key)

export interface Person {
  readonly name: string
  /** Names without `%`. */
  readonly groups: readonly string[]
}

/**
 * The keys that mean somebody: their name, patterns for it, and `group%`. `*` is for those no other key means by name,
 * unless `always`, as in `publisher_acl` and with `permissive_acl`.
 */
export function keysFor(
  map: Readonly<Record<string, unknown>>,
  { name, groups }: Person,
  { always }: { readonly always: boolean },
): Applying[] {
  const found: Applying[] = []
  let isNamed = false
  for (const [key, entries] of Object.entries(map)) {
    if (isSetting(key) || key === '*') continue
    const isGroup = key.endsWith('%')
    if (isGroup ? !groups.includes(key.slice(0, -1)) : !namedBy(key, name)) continue
    isNamed ||= !isGroup
    found.push([key, entries])
  }
  const everybody = Object.hasOwn(map, '*') && (always || !isNamed)
  return everybody ? [...found, ['*', map['*']]] : found
}

/** Whose rights count: `sudo_fred` has those of fred. */
export const localName = (name: string): string =>
  name.startsWith('sudo_') ? name.slice('sudo_'.length) : name
