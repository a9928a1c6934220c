import { sameValue } from '../_values/merge.ts'
import { isMapping, plainCopy, traverse } from '../_values/traverse.ts'

export const MISSING = Symbol('missing')

type Grains = Readonly<Record<string, unknown>>
/** The top-level grain to write so that a nested one gets its value, or the reason why that is refused. */
type Nesting = { readonly key: string; readonly value: unknown } | { readonly refused: string }

/** Return a copy of the value at a path, or {@link MISSING}. */
export const valueAt = (grains: Grains, path: string, delimiter: string): unknown =>
  plainCopy(traverse(grains, path, MISSING, delimiter))

/**
 * Put a value at a path, from the leaf up: maps get the key, lists the element `{key: value}`. A scalar above the leaf
 * is replaced only if it equals the key below it, or with `force`. `remove` removes the leaf instead.
 */
export function withNested(
  grains: Grains,
  path: string,
  value: unknown,
  { delimiter, force = false, remove = false }: { delimiter: string; force?: boolean; remove?: boolean },
): Nesting {
  let [key, below, removing] = [path, value, remove]
  for (let at = lastIndex(key, delimiter); at >= 0; at = lastIndex(key, delimiter)) {
    const leaf = key.slice(at + delimiter.length)
    key = key.slice(0, at)
    const parent = valueAt(grains, key, delimiter)
    const changed = removing ? without(parent, leaf) : put(parent, leaf, below, force)
    if (changed === MISSING) {
      const shown = typeof parent === 'string' ? parent : JSON.stringify(parent)
      return {
        refused: `The key '${key}' value is '${shown}', which is different from the provided key '${leaf}'. Use 'force=True' to overwrite.`,
      }
    }
    below = changed
    removing = false
  }
  return { key, value: removing ? undefined : below }
}

const lastIndex = (key: string, delimiter: string): number =>
  delimiter === '' ? -1 : key.lastIndexOf(delimiter)

function put(parent: unknown, leaf: string, value: unknown, force: boolean): unknown {
  if (parent === MISSING) return { [leaf]: value }
  if (isMapping(parent)) return { ...parent, [leaf]: value }
  if (Array.isArray(parent)) return putInList(parent, leaf, value)
  return sameValue(parent, leaf) || force ? { [leaf]: value } : MISSING
}

function putInList(list: readonly unknown[], leaf: string, value: unknown): unknown[] {
  let found = false
  const changed = list.map((element) => {
    const holds = element === leaf || (isMapping(element) && Object.hasOwn(element, leaf))
    found ||= holds
    return holds ? { ...(isMapping(element) ? element : {}), [leaf]: value } : element
  })
  return found ? changed : [...changed, { [leaf]: value }]
}

function without(parent: unknown, leaf: string): unknown {
  if (parent === MISSING) return {}
  if (!isMapping(parent)) return parent
  const { [leaf]: _, ...rest } = parent as Record<string, unknown>
  return rest
}
