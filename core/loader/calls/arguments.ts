import { typed } from './typed.ts'
import { type Arguments, KEYWORD } from './words.ts'

/**
 * Split a job's `arg` (wire protocol §10.1) into positional and keyword arguments. Maps marked `__kwarg__` and words
 * `name=value` are keywords in any position; the last of a name wins. Values of such words are `Typed`.
 */
export function splitArguments(arg: readonly unknown[]): Arguments {
  const args: unknown[] = []
  const kwargs = new Map<string, unknown>()
  for (const item of arg) {
    const found = keywordsIn(item)
    if (!found) args.push(item)
    else for (const [name, value] of found) kwargs.set(name, value)
  }
  return { args, kwargs: Object.fromEntries(kwargs) }
}

/** Return the names and values of a keyword argument, or of several in a map; undefined for a positional argument. */
export function keywordsIn(item: unknown): [string, unknown][] | undefined {
  if (typeof item === 'string') {
    const [, name, text] = KEYWORD.exec(item) ?? []
    return name === undefined ? undefined : [[name, typed(text as string)]]
  }
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return undefined
  const entries: [unknown, unknown][] = item instanceof Map ? [...item] : Object.entries(item)
  if (!entries.some(([key, value]) => key === '__kwarg__' && value === true)) return undefined
  return entries.filter(([key]) => key !== '__kwarg__').map(([key, value]) => [String(key), value])
}
