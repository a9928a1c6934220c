import { SaltError } from '../base/errors.ts'

/** Deeper than any real argument. Later code walks these values recursively. */
const MAX_DEPTH = 50
/** Keys that pollute prototypes when code copies maps carelessly. */
const FORBIDDEN_KEYS = new Set(['__proto__'])

/**
 * Refuse a value that is dangerous to process: nested too deeply, with a key that pollutes prototypes, or of more
 * than `maxBytes` (approximately) once YAML aliases are expanded.
 *
 * @throws SaltError INVALID_ARGUMENTS, TOO_LARGE
 */
export function checkInput<T>(value: T, maxBytes: number): T {
  const open: { value: unknown; depth: number }[] = [{ value, depth: 0 }]
  let size = 0
  for (let next = open.pop(); next; next = open.pop()) {
    size += weight(next.value)
    if (size > maxBytes)
      throw new SaltError(
        'TOO_LARGE',
        `The request is larger than ${maxBytes} bytes when it is expanded. Send less, or raise max_request_body_size.`,
      )
    if (typeof next.value !== 'object' || next.value === null) continue
    if (next.depth >= MAX_DEPTH) throw invalid(`It is nested more than ${MAX_DEPTH} levels deep.`)
    const depth = next.depth + 1
    for (const [key, member] of membersOf(next.value)) {
      if (FORBIDDEN_KEYS.has(key)) throw invalid(`A key may not be ${key}.`)
      if (key === 'constructor' && isObject(member) && Object.hasOwn(member, 'prototype'))
        throw invalid("The key 'constructor' may not contain a 'prototype'.")
      size += key.length
      open.push({ value: member, depth })
    }
  }
  return value
}

function membersOf(value: object): [string, unknown][] {
  if (Array.isArray(value)) return value.map((member) => ['', member])
  return value instanceof Map
    ? [...value].map(([key, member]) => [String(key), member])
    : Object.entries(value)
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

const weight = (value: unknown): number => (typeof value === 'string' ? value.length + 2 : 2)

const invalid = (sentence: string): SaltError => new SaltError('INVALID_ARGUMENTS', sentence)
