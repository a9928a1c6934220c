/** A map decoded from MessagePack or YAML: a plain object, or a Map if not all of its keys are strings. */
export type Mapping = Readonly<Record<string, unknown>> | ReadonlyMap<unknown, unknown>

export function isMapping(value: unknown): value is Mapping {
  if (value instanceof Map) return true
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** Return the entries of a mapping, with keys as strings. */
export function entriesOf(mapping: Mapping): [string, unknown][] {
  return mapping instanceof Map
    ? [...mapping].map(([key, value]) => [String(key), value])
    : Object.entries(mapping)
}

/** Merge maps into a plain object, each over those before it. What is no map counts as empty. */
export const mergedMaps = (...values: readonly unknown[]): Record<string, unknown> =>
  Object.fromEntries(values.flatMap((value) => (isMapping(value) ? entriesOf(value) : [])))

/**
 * Return the value at a path such as `ip_interfaces:eth0:0`, or `missing`. Each step is a key of a map, an index of a
 * list, or a key of the first map in a list that has it.
 */
export function traverse(value: unknown, path: string, missing: unknown, delimiter = ':'): unknown {
  let at = value
  for (const step of delimiter === '' ? [path] : path.split(delimiter)) {
    const found = Array.isArray(at) ? inList(at, step) : inMapping(at, step)
    if (found === undefined) return missing
    at = found.value
  }
  return at
}

function inList(list: readonly unknown[], step: string): { value: unknown } | undefined {
  for (const element of list) {
    const found = inMapping(element, step)
    if (found) return found
  }
  const index = /^-?\d+$/.test(step) ? Number(step) : Number.NaN
  const from = index < 0 ? list.length + index : index
  return from >= 0 && from < list.length ? { value: list[from] } : undefined
}

function inMapping(value: unknown, step: string): { value: unknown } | undefined {
  if (!isMapping(value)) return undefined
  if (value instanceof Map) {
    if (value.has(step)) return { value: value.get(step) }
    const key = [...value.keys()].find((candidate) => String(candidate) === step)
    return key === undefined ? undefined : { value: value.get(key) }
  }
  return Object.hasOwn(value, step) ? { value: (value as Record<string, unknown>)[step] } : undefined
}

/** Copy a value deeply into plain objects and lists, which the caller may change. */
export function plainCopy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainCopy)
  if (!isMapping(value)) return value
  return Object.fromEntries(entriesOf(value).map(([key, inner]) => [key, plainCopy(inner)]))
}
