/** Return the type of a value in words for a message: `a map`, `text`, `a promise`. */
export function typeInWords(value: unknown): string {
  if (value === null) return 'null'
  if (value === undefined) return 'undefined'
  if (Array.isArray(value)) return 'a list'
  if (value instanceof Promise) return 'a promise'
  if (typeof value === 'object') return 'a map'
  return typeof value === 'string' ? 'text' : `a ${typeof value}`
}
